internal import ReachCore

/// Walks through the bytes of a DNS message.
struct DNSReader {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() throws(DNSResponse.Mistake) -> UInt8 {
        guard offset < bytes.count else { throw .cut }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() throws(DNSResponse.Mistake) -> UInt16 {
        let high = try byte()
        return UInt16(high) << 8 | UInt16(try byte())
    }

    mutating func longNumber() throws(DNSResponse.Mistake) -> UInt32 {
        let high = try number()
        return UInt32(high) << 16 | UInt32(try number())
    }

    /// A name, with its compression (RFC 1035 section 4.1.4) undone.
    ///
    /// Each pointer must lead to before where the name, or the last pointer's target, began: so there is no loop.
    mutating func name() throws(DNSResponse.Mistake) -> DNSName {
        var labels: [[UInt8]] = []
        var (start, position) = (offset, offset)
        var end: Int?
        var length = 1
        while true {
            guard position < bytes.count else { throw .cut }
            let size = Int(bytes[position])
            switch size {
            case 0:
                offset = end ?? position + 1
                guard let name = DNSName(labels: labels) else { throw .badName }
                return name
            case 1...63:
                guard position + size < bytes.count else { throw .cut }
                length += size + 1
                guard length <= 255 else { throw .badName }
                labels.append(Array(bytes[(position + 1)...(position + size)]))
                position += size + 1
            case 0xc0...:
                guard position + 1 < bytes.count else { throw .cut }
                let target = (size & 63) << 8 | Int(bytes[position + 1])
                guard target < start else { throw .badName }
                if end == nil { end = position + 2 }
                (start, position) = (target, target)
            default: throw .badName
            }
        }
    }

    /// A resource record; `nil` for one of another class, such as EDNS's.
    mutating func record() throws(DNSResponse.Mistake) -> DNSResponse.Record? {
        let name = try name()
        let type = DNSType(rawValue: try number())
        let networkClass = try number()
        // The top bit is not used: such a value counts as 0 (RFC 2181 section 8).
        let time = try longNumber()
        let seconds = time > UInt32(Int32.max) ? 0 : time
        let size = Int(try number())
        guard offset + size <= bytes.count else { throw .cut }
        let end = offset + size
        defer { offset = end }
        guard networkClass == DNSResponse.internet else { return nil }
        return DNSResponse.Record(
            name: name, type: type, timeToLive: seconds, content: try content(type, upTo: end, timeToLive: seconds))
    }

    /// A name that is the end of a record.
    private mutating func lastName(upTo end: Int) throws(DNSResponse.Mistake) -> DNSName {
        let name = try name()
        guard offset == end else { throw .badName }
        return name
    }

    private mutating func content(
        _ type: DNSType, upTo end: Int, timeToLive: UInt32
    ) throws(DNSResponse.Mistake) -> DNSResponse.Record.Content {
        switch type {
        case .a where end - offset == 4, .aaaa where end - offset == 16:
            guard let address = IPAddress(bytes: bytes[offset..<end]) else { throw .cut }
            return .address(address)
        case .a, .aaaa: throw .cut
        case .cname:
            let alias = try name()
            guard offset == end else { throw .badName }
            return .alias(alias)
        case .soa:
            _ = try name()
            _ = try name()
            guard offset + 20 == end else { throw .cut }
            offset += 16
            return .startOfAuthority(negativeSeconds: min(timeToLive, try longNumber()))
        case .ns, .ptr: return .name(try lastName(upTo: end))
        case .mx:
            let preference = try number()
            return .exchange(preference: preference, try lastName(upTo: end))
        case .srv:
            let (priority, weight, port) = (try number(), try number(), try number())
            return .service(priority: priority, weight: weight, port: port, try lastName(upTo: end))
        default: return .other(Array(bytes[offset..<end]))
        }
    }
}
