/// The information elements of a frame (IEEE 802.11, 9.4.2): each has a number, a length and as many bytes. An element
/// that is longer than the rest ends the sequence.
package struct InformationElements: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: [UInt8]) { rest = bytes[...] }

    package mutating func next() -> (number: UInt8, body: [UInt8])? {
        guard let number = rest.popFirst(), let length = rest.popFirst(), rest.count >= Int(length) else {
            rest = []
            return nil
        }
        defer { rest = rest.dropFirst(Int(length)) }
        return (number, Array(rest.prefix(Int(length))))
    }
}

/// How a Wi-Fi network is protected, from what its access point announces.
package enum WirelessSecurity: String, Hashable, Sendable, CaseIterable {
    /// Not at all.
    case open
    /// Encrypted without a password (Opportunistic Wireless Encryption): against listeners, but not against a false
    /// access point.
    case owe
    case wep
    case wpa
    case wpa2
    /// Both WPA2 and WPA3 are offered.
    case wpa2wpa3 = "wpa2-wpa3"
    case wpa3
    /// Each user has credentials of their own (802.1X).
    case enterprise

    /// - Parameters:
    ///   - elements: The information elements of a beacon.
    ///   - capabilities: Its capability information (9.4.1.4), in which bit 4 stands for encryption.
    package init(elements: [UInt8], _ capabilities: UInt16) {
        var suites: Set<UInt8>?
        var hasWPA = false
        for (number, body) in InformationElements(elements) {
            if number == Self.rsn { suites = Self.keyManagement(body) }
            if number == Self.vendor, body.starts(with: [0x00, 0x50, 0xf2, 0x01]) { hasWPA = true }
        }
        guard let suites else {
            self = hasWPA ? .wpa : capabilities & 0x10 != 0 ? .wep : .open
            return
        }
        let (isWPA3, isWPA2) = (!suites.isDisjoint(with: [8, 9, 24, 25]), !suites.isDisjoint(with: [2, 4, 6, 19, 20]))
        if !suites.isDisjoint(with: [1, 3, 5, 11, 12, 13, 14, 15, 16, 17, 22, 23]) {
            self = .enterprise
        } else if isWPA3 {
            self = isWPA2 ? .wpa2wpa3 : .wpa3
        } else {
            self = suites.contains(18) ? .owe : .wpa2
        }
    }

    private static let rsn: UInt8 = 48
    private static let vendor: UInt8 = 221

    /// The numbers of the suites for authentication and key management that the element RSN lists (9.4.2.24.3): after
    /// the version, the cipher of groups and the list of ciphers.
    private static func keyManagement(_ body: [UInt8]) -> Set<UInt8> {
        func count(at place: Int) -> Int { Int(body[place]) | Int(body[place + 1]) << 8 }
        guard body.count >= 8 else { return [] }
        let place = 8 + 4 * count(at: 6)
        guard body.count >= place + 2 else { return [] }
        var suites: Set<UInt8> = []
        for number in 0..<min(count(at: place), (body.count - place - 2) / 4) {
            let suite = body[(place + 2 + 4 * number)...].prefix(4)
            if suite.starts(with: [0x00, 0x0f, 0xac]), let last = suite.last { suites.insert(last) }
        }
        return suites
    }
}
