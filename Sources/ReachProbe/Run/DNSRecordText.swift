internal import ReachCore
internal import ReachTransfer

extension DNSRecordType {
    var number: DNSType {
        switch self {
        case .a: .a
        case .aaaa: .aaaa
        case .cname: .cname
        case .mx: .mx
        case .ns: .ns
        case .ptr: .ptr
        case .srv: .srv
        case .txt: .txt
        }
    }
}

extension DNSResponse.Record {
    /// Its data as dig(1) writes it, but for the dot at the end of names, and texts without their quotes.
    var text: String {
        switch content {
        case .address(let address): return address.description
        case .alias(let name), .name(let name): return name.description
        case .exchange(let preference, let name): return "\(preference) \(name)"
        case .service(let priority, let weight, let port, let name): return "\(priority) \(weight) \(port) \(name)"
        case .startOfAuthority: return ""
        case .other(let bytes): return type == .txt ? Self.joined(bytes) : ""
        }
    }

    /// The strings of a TXT record as one, as those who publish long ones mean them (RFC 7208 section 3.3).
    private static func joined(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        var rest = bytes[...]
        while let count = rest.popFirst() {
            text += rest.prefix(Int(count))
            rest = rest.dropFirst(Int(count))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
