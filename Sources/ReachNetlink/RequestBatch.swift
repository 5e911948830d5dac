internal import CNetlink
internal import Glibc
internal import ReachCore

/// Requests for one send: the kernel answers them in order, so several cost hardly more than one.
struct RequestBatch {
    private(set) var bytes: [UInt8] = []
    /// The sequence number of the first request; the following ones count up from it.
    let firstSequence: UInt32
    private(set) var count = 0

    init(firstSequence: UInt32) {
        self.firstSequence = firstSequence
        bytes.reserveCapacity(512)
    }

    /// Adds a request: its fixed part, then what `attributes` appends.
    mutating func add(
        _ type: Int, flags: CInt = 0, _ fixed: some BitwiseCopyable, attributes: (inout RequestBatch) -> Void = { _ in }
    ) {
        let start = bytes.count
        let header = nlmsghdr(
            nlmsg_len: 0, nlmsg_type: UInt16(type), nlmsg_flags: UInt16(NLM_F_REQUEST | flags),
            nlmsg_seq: firstSequence &+ UInt32(count), nlmsg_pid: 0)
        append(header)
        append(fixed)
        attributes(&self)
        let length = UInt32(bytes.count - start)
        withUnsafeBytes(of: length) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        count += 1
    }

    mutating func attribute(_ type: some BinaryInteger, _ number: UInt32) {
        withUnsafeBytes(of: number) { attribute(type, bytes: Array($0)) }
    }

    mutating func attribute(_ type: some BinaryInteger, _ address: IPAddress) {
        attribute(type, bytes: address.bytes)
    }

    private mutating func attribute(_ type: some BinaryInteger, bytes payload: [UInt8]) {
        let size = MemoryLayout<nlattr>.size + payload.count
        append(nlattr(nla_len: UInt16(size), nla_type: UInt16(type)))
        bytes += payload
        pad()
    }

    private mutating func append(_ value: some BitwiseCopyable) {
        withUnsafeBytes(of: value) { bytes += $0 }
        pad()
    }

    private mutating func pad() {
        while bytes.count % 4 != 0 { bytes.append(0) }
    }
}
