internal import CNetlink
internal import Glibc

/// The messages of one datagram, in order. A message with a wrong length ends the sequence.
struct Messages: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ datagram: UnsafeRawBufferPointer) { rest = datagram }

    mutating func next() -> Message? {
        guard let header = rest.structure(nlmsghdr.self) else { return nil }
        let length = Int(header.nlmsg_len)
        guard length >= Message.headerBytes, length <= rest.count else { return nil }
        let payload = UnsafeRawBufferPointer(rebasing: rest[Message.headerBytes..<length])
        rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min((length + 3) & ~3, rest.count)...])
        return Message(header: header, payload: payload)
    }
}

/// One message. Valid as long as its datagram's buffer.
struct Message {
    static let headerBytes = MemoryLayout<nlmsghdr>.size

    let header: nlmsghdr
    let payload: UnsafeRawBufferPointer

    var type: Int { Int(header.nlmsg_type) }
    var sequence: UInt32 { header.nlmsg_seq }

    func has(_ flag: CInt) -> Bool { header.nlmsg_flags & UInt16(flag) != 0 }

    /// The error number of a refusal, or of a dump that failed part of the way; 0 for an acknowledgement; `nil` for any
    /// other message.
    var errorNumber: Int32? {
        switch CInt(type) {
        case NLMSG_ERROR: payload.structure(nlmsgerr.self).map { -$0.error } ?? EBADMSG
        case NLMSG_DONE: payload.structure(Int32.self).flatMap { $0 < 0 ? -$0 : nil }
        default: nil
        }
    }

    /// The fixed part of the message and the attributes after it; `nil` when the message is truncated.
    func body<T: BitwiseCopyable>(_: T.Type) -> (fixed: T, attributes: Attributes)? {
        guard let fixed = payload.structure(T.self) else { return nil }
        let offset = Swift.min((MemoryLayout<T>.size + 3) & ~3, payload.count)
        let rest = UnsafeRawBufferPointer(rebasing: payload[offset...])
        return (fixed, Attributes(at: rest.baseAddress, byteCount: rest.count))
    }
}
