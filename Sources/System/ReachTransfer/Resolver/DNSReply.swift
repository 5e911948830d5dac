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
        let found =
            family == .ipv4
            ? addresses(like: ares_addrttl(), ares_parse_a_reply) {
                IPAddress(ipv4: UInt32(bigEndian: $0.ipaddr.s_addr))
            }
            : addresses(like: ares_addr6ttl(), ares_parse_aaaa_reply) { entry in
                withUnsafeBytes(of: entry.ip6addr) { IPAddress(bytes: Array($0)) }
            }
        guard let found else { return nil }
        let answers = DNSRecord.all(in: bytes).filter { $0.section == .answer }
        return (found, answers.map(\.seconds).min() ?? 0)
    }

    private typealias AddressParser<Entry> = (
        UnsafePointer<UInt8>?, CInt, UnsafeMutablePointer<UnsafeMutablePointer<hostent>?>?,
        UnsafeMutablePointer<Entry>?, UnsafeMutablePointer<CInt>?
    ) -> CInt

    private func addresses<Entry>(
        like empty: Entry, _ parse: AddressParser<Entry>, _ read: (Entry) -> IPAddress?
    ) -> [IPAddress]? {
        var entries = [Entry](repeating: empty, count: Self.addressLimit)
        var count = CInt(entries.count)
        let status = parse(bytes, CInt(bytes.count), nil, &entries, &count)
        guard status == REACH_ARES_SUCCESS || status == REACH_ARES_ENODATA else { return nil }
        return entries.prefix(Int(count)).compactMap(read)
    }

    /// The seconds for which a negative answer holds, by the zone's SOA record; 0 without one, since RFC 2308 section 5
    /// forbids caching such an answer. c-ares finds that record only among answers.
    var negativeSeconds: UInt32 {
        let zone = DNSRecord.all(in: bytes).first {
            $0.section != .additional && $0.type == DNSRecord.zone && $0.isInternet
        }
        // Its data are two names and five numbers; the last is the limit of RFC 2308 section 4.
        guard let zone, zone.data.count >= 2 + 20 else { return 0 }
        let limit = DNSRecord.number(in: bytes, at: zone.data.upperBound - 4, bytes: 4)
        return limit > Int32.max ? 0 : min(UInt32(limit), zone.seconds)
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

/// A name server's answer about the addresses of a name.
package enum DNSAnswer: Hashable, Sendable {
    case addresses([IPAddress], seconds: UInt32)
    /// The name has no record of this type.
    case none(seconds: UInt32)
    /// The name does not exist, for any type.
    case noSuchName(seconds: UInt32)
    /// The server failed, with its response code (RFC 1035 section 4.1.1), or its answer cannot be parsed.
    case failure(code: UInt8)

    package init(_ reply: DNSReply, family: IPAddress.Family) {
        switch reply.code {
        case DNSReply.Code.good:
            guard let found = reply.addresses(family) else {
                self = .failure(code: DNSReply.Code.serverFailure)
                return
            }
            self =
                found.addresses.isEmpty
                ? .none(seconds: reply.negativeSeconds) : .addresses(found.addresses, seconds: found.seconds)
        case DNSReply.Code.nameError: self = .noSuchName(seconds: reply.negativeSeconds)
        default: self = .failure(code: reply.code)
        }
    }
}
