internal import CAres
internal import Glibc
package import ReachCore

/// A type of DNS records (RFC 1035 section 3.2.2); any number may be queried.
package struct DNSType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let a = DNSType(rawValue: 1)
    package static let ns = DNSType(rawValue: 2)
    package static let cname = DNSType(rawValue: 5)
    package static let ptr = DNSType(rawValue: 12)
    package static let mx = DNSType(rawValue: 15)
    package static let txt = DNSType(rawValue: 16)
    package static let aaaa = DNSType(rawValue: 28)
    package static let srv = DNSType(rawValue: 33)

    /// The type of a family's addresses.
    package init(_ family: IPAddress.Family) { self = family == .ipv4 ? .a : .aaaa }
}

/// A name server's response as c-ares received it: its bytes, which c-ares parses on demand. A value.
package struct DNSReply: Hashable, Sendable {
    private let bytes: [UInt8]

    /// RFC 1035 section 4.1.1.
    enum Code {
        static let good: UInt8 = 0
        static let formatError: UInt8 = 1
        static let serverFailure: UInt8 = 2
        static let nameError: UInt8 = 3
        static let notImplemented: UInt8 = 4
        static let refused: UInt8 = 5
        /// A server that sends one of these has no answer; another one may.
        static let failures: Set<UInt8> = [serverFailure, notImplemented, refused]
    }

    static let headerBytes = 12
    /// The most addresses used of one response.
    private static let addressLimit = 16

    /// - Parameter bytes: A whole message.
    /// - Returns: `nil` for less than a header.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headerBytes else { return nil }
        self.bytes = bytes
    }

    /// The response code (RFC 1035 section 4.1.1).
    package var code: UInt8 { bytes[3] & 15 }

    var isFailure: Bool { Code.failures.contains(code) }

    /// The addresses of a family, also those of aliases, and the shortest time to live of the records, in seconds.
    ///
    /// - Returns: `nil` if the message cannot be parsed; an empty list if it has none.
    func addresses(_ family: IPAddress.Family) -> (addresses: [IPAddress], seconds: UInt32)? {
        family == .ipv4
            ? addresses(like: ares_addrttl(), ares_parse_a_reply) { entry in
                (IPAddress(ipv4: UInt32(bigEndian: entry.ipaddr.s_addr)), entry.ttl)
            }
            : addresses(like: ares_addr6ttl(), ares_parse_aaaa_reply) { entry in
                withUnsafeBytes(of: entry.ip6addr) { IPAddress(bytes: Array($0)) }.map { ($0, entry.ttl) }
            }
    }

    private typealias AddressParser<Entry> = (
        UnsafePointer<UInt8>?, CInt, UnsafeMutablePointer<UnsafeMutablePointer<hostent>?>?,
        UnsafeMutablePointer<Entry>?, UnsafeMutablePointer<CInt>?
    ) -> CInt

    private func addresses<Entry>(
        like empty: Entry, _ parse: AddressParser<Entry>, _ read: (Entry) -> (IPAddress, CInt)?
    ) -> ([IPAddress], UInt32)? {
        var entries = [Entry](repeating: empty, count: Self.addressLimit)
        var count = CInt(entries.count)
        let status = parse(bytes, CInt(bytes.count), nil, &entries, &count)
        guard status == REACH_ARES_SUCCESS || status == REACH_ARES_ENODATA else { return nil }
        let found = entries.prefix(Int(count)).compactMap(read)
        // A time with its top bit set counts as 0 (RFC 2181 section 8).
        return (found.map(\.0), found.map { UInt32(max(0, $0.1)) }.min() ?? 0)
    }

    /// The seconds for which a negative answer holds, by the zone's SOA record; 0 without one, since RFC 2308 section 5
    /// forbids caching such an answer. c-ares finds that record only among answers.
    var negativeSeconds: UInt32 {
        var place = Self.headerBytes
        for _ in 0..<number(at: 4, bytes: 2) {
            guard let end = Self.end(ofNameAt: place, in: bytes) else { return 0 }
            place = end + 4
        }
        for _ in 0..<(number(at: 6, bytes: 2) + number(at: 8, bytes: 2)) {
            // A name, then the type, the class, the time to live, and the count of the data's bytes.
            guard let end = Self.end(ofNameAt: place, in: bytes), end + 10 <= bytes.count else { return 0 }
            place = end + 10 + number(at: end + 8, bytes: 2)
            guard place <= bytes.count else { return 0 }
            let isZone = number(at: end, bytes: 2) == 6 && number(at: end + 2, bytes: 2) == 1
            // Its data are two names and five numbers; the last is the limit of RFC 2308 section 4.
            guard isZone, place - end >= 10 + 2 + 20 else { continue }
            let (limit, seconds) = (number(at: place - 4, bytes: 4), number(at: end + 4, bytes: 4))
            // A time with its top bit set counts as 0 (RFC 2181 section 8).
            return max(limit, seconds) > Int32.max ? 0 : UInt32(min(limit, seconds))
        }
        return 0
    }

    private func number(at place: Int, bytes count: Int) -> Int {
        bytes[place..<(place + count)].reduce(0) { $0 << 8 + Int($1) }
    }

    /// The place behind a name of a message: its labels end with an empty one, or with a reference to a name before.
    ///
    /// - Returns: `nil` if the message ends before.
    static func end(ofNameAt start: Int, in message: [UInt8]) -> Int? {
        var place = start
        while place < message.count {
            let count = Int(message[place])
            if count >= 0xc0 { return place + 2 <= message.count ? place + 2 : nil }
            place += 1 + count
            if count == 0 { return place }
        }
        return nil
    }

    /// The data of the answers of a type as dig(1) prints it, with names in lower case and without their last dot, and
    /// texts without quotes; empty if there are none, or if the message cannot be parsed.
    package func texts(_ type: DNSType) -> [String] {
        switch type {
        case .a: addresses(.ipv4)?.addresses.map(\.description) ?? []
        case .aaaa: addresses(.ipv6)?.addresses.map(\.description) ?? []
        case .cname: host { ares_parse_a_reply(bytes, CInt(bytes.count), $0, nil, nil) }.map { [$0.name] } ?? []
        case .ns: host { ares_parse_ns_reply(bytes, CInt(bytes.count), $0) }?.aliases ?? []
        case .ptr: host { ares_parse_ptr_reply(bytes, CInt(bytes.count), nil, 0, AF_INET, $0) }?.aliases ?? []
        case .mx:
            records(ares_parse_mx_reply, \.next) { "\($0.priority) \(Self.name($0.host))" }
        case .srv:
            records(ares_parse_srv_reply, \.next) { "\($0.priority) \($0.weight) \($0.port) \(Self.name($0.host))" }
        case .txt: strings()
        default: []
        }
    }

    /// The strings of each TXT record joined, as publishers of long ones intend (RFC 7208 section 3.3).
    private func strings() -> [String] {
        let pieces = records(ares_parse_txt_reply_ext, \.next) { piece in
            let text = String(decoding: UnsafeBufferPointer(start: piece.txt, count: piece.length), as: UTF8.self)
            return (text, piece.record_start != 0)
        }
        return pieces.reduce(into: []) { texts, piece in
            if piece.1 || texts.isEmpty { texts.append(piece.0) } else { texts[texts.count - 1] += piece.0 }
        }
    }

    private func records<Record, Value>(
        _ parse: (UnsafePointer<UInt8>?, CInt, UnsafeMutablePointer<UnsafeMutablePointer<Record>?>?) -> CInt,
        _ next: KeyPath<Record, UnsafeMutablePointer<Record>?>, _ read: (Record) -> Value
    ) -> [Value] {
        var first: UnsafeMutablePointer<Record>?
        guard parse(bytes, CInt(bytes.count), &first) == REACH_ARES_SUCCESS else { return [] }
        defer { if let first { ares_free_data(first) } }
        return sequence(first: first, next: { $0?.pointee[keyPath: next] }).prefix { $0 != nil }
            .compactMap { $0.map { read($0.pointee) } }
    }

    private func host(
        _ parse: (UnsafeMutablePointer<UnsafeMutablePointer<hostent>?>) -> CInt
    ) -> (name: String, aliases: [String])? {
        var host: UnsafeMutablePointer<hostent>?
        guard parse(&host) == REACH_ARES_SUCCESS, let host else { return nil }
        defer { ares_free_hostent(host) }
        var aliases: [String] = []
        while let list = host.pointee.h_aliases, let alias = list[aliases.count] { aliases.append(Self.name(alias)) }
        return (Self.name(host.pointee.h_name), aliases)
    }

    private static func name(_ text: UnsafeMutablePointer<CChar>?) -> String {
        text.map { String(cString: $0).lowercased() } ?? ""
    }
}
