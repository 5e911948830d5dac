package import ReachCore

/// What is asked of a name (RFC 1035 section 3.2.2); any number may be asked for.
package struct DNSType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let a = DNSType(rawValue: 1)
    package static let ns = DNSType(rawValue: 2)
    package static let cname = DNSType(rawValue: 5)
    package static let soa = DNSType(rawValue: 6)
    package static let ptr = DNSType(rawValue: 12)
    package static let mx = DNSType(rawValue: 15)
    package static let txt = DNSType(rawValue: 16)
    package static let aaaa = DNSType(rawValue: 28)
    package static let srv = DNSType(rawValue: 33)

    /// The type of a family's addresses.
    package init(_ family: IPAddress.Family) { self = family == .ipv4 ? .a : .aaaa }
}

/// One question to a name server, for its recursion (RFC 1035 section 4).
package struct DNSQuery: Hashable, Sendable {
    package var id: UInt16
    package var name: DNSName
    package var type: DNSType
    /// Says that answers of 1232 bytes are welcome (EDNS, RFC 6891; the size that DNS flag day 2020 agreed on). Some old
    /// servers answer a question with it by FORMERR.
    package var hasExtensions: Bool

    package init(id: UInt16, name: DNSName, type: DNSType, hasExtensions: Bool = true) {
        self.id = id
        self.name = name
        self.type = type
        self.hasExtensions = hasExtensions
    }

    package static let answerBytes = 1232

    /// The message, as it goes into a datagram.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        func append(_ numbers: UInt16...) {
            for number in numbers { bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)] }
        }
        let recursionDesired: UInt16 = 0x0100
        append(id, recursionDesired, 1, 0, 0, hasExtensions ? 1 : 0)
        bytes += name.encoded
        append(type.rawValue, DNSResponse.internet)
        if hasExtensions {
            bytes.append(0)
            append(41, UInt16(Self.answerBytes), 0, 0, 0)
        }
        return bytes
    }
}
