internal import CNetlink
internal import ReachCore

/// The attributes of a message, or those nested in another attribute, in order. libnl checks each length.
struct Attributes: Sequence, IteratorProtocol {
    private var next_: UnsafePointer<nlattr>?
    private var remaining: CInt

    init(at start: UnsafeRawPointer?, byteCount: Int) {
        next_ = start?.assumingMemoryBound(to: nlattr.self)
        remaining = CInt(byteCount)
    }

    mutating func next() -> Attribute? {
        guard let current = next_, nla_ok(current, remaining) != 0 else { return nil }
        next_ = UnsafePointer(nla_next(current, &remaining))
        return Attribute(pointer: current)
    }
}

/// One attribute: a type and a payload. Valid as long as the message's buffer.
struct Attribute {
    fileprivate let pointer: UnsafePointer<nlattr>

    /// The type, without the flags for nesting and byte order.
    var type: Int { Int(nla_type(pointer)) }

    var payload: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nla_data(pointer), count: Int(nla_len(pointer)))
    }

    var uint8: UInt8? { number() }
    var uint32: UInt32? { number() }
    var int32: Int32? { number() }

    /// The payload as text, up to the first NUL. Names need not be UTF-8; other bytes become U+FFFD.
    var string: String { String(decoding: payload.prefix { $0 != 0 }, as: UTF8.self) }

    var bytes: [UInt8] { Array(payload) }

    /// The payload as an IPv4 address (4 bytes) or an IPv6 address (16 bytes).
    var address: IPAddress? { IPAddress(payload) }

    var nested: Attributes { Attributes(at: payload.baseAddress, byteCount: payload.count) }

    /// The structure at the beginning of the payload.
    func structure<T: BitwiseCopyable>(_: T.Type) -> T? { payload.structure(T.self) }

    /// Calls `body` for each next hop of RTA_MULTIPATH: an `rtnexthop` followed by its attributes.
    func forEachNextHop(_ body: (rtnexthop, Attributes) -> Void) {
        var rest = payload
        while let header = rest.structure(rtnexthop.self) {
            let length = Int(header.rtnh_len)
            guard length >= MemoryLayout<rtnexthop>.size, length <= rest.count else { return }
            let inner = UnsafeRawBufferPointer(rebasing: rest[MemoryLayout<rtnexthop>.size..<length])
            body(header, Attributes(at: inner.baseAddress, byteCount: inner.count))
            rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min((length + 3) & ~3, rest.count)...])
        }
    }

    private func number<T: FixedWidthInteger & BitwiseCopyable>() -> T? { payload.structure(T.self) }
}

extension IPAddress {
    /// Creates an address from bytes in network order, without an intermediate array: every route has several.
    init?(_ payload: UnsafeRawBufferPointer) {
        switch payload.count {
        case 4: self.init(ipv4: UInt32(bigEndian: payload.loadUnaligned(as: UInt32.self)))
        case 16:
            self.init(
                ipv6: UInt64(bigEndian: payload.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: payload.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        default: return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The structure at the beginning, or `nil` if the buffer is too short. Netlink aligns messages to four bytes,
    /// while some structures need eight, so the load is unaligned.
    func structure<T: BitwiseCopyable>(_: T.Type) -> T? {
        count >= MemoryLayout<T>.size ? loadUnaligned(as: T.self) : nil
    }
}
