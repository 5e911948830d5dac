internal import CNetlink
internal import Glibc
internal import ReachCore

/// Requests for one `send`. The kernel answers them in order, so several cost hardly more than one.
struct RequestBatch {
    private(set) var bytes: [UInt8] = []
    /// The sequence number of the first request; each later one is greater by one.
    let firstSequence: UInt32
    private(set) var count = 0

    init(firstSequence: UInt32, requests: Int = 8) {
        self.firstSequence = firstSequence
        bytes.reserveCapacity(requests * 64)
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
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: length, toByteOffset: start, as: UInt32.self) }
        count += 1
    }

    mutating func attribute(_ type: some BinaryInteger, _ number: UInt32) {
        begin(type, payloadBytes: 4)
        append(number)
    }

    mutating func attribute(_ type: some BinaryInteger, _ address: IPAddress) {
        if address.family == .ipv4 {
            begin(type, payloadBytes: 4)
            append(UInt32(truncatingIfNeeded: address.low).bigEndian)
        } else {
            begin(type, payloadBytes: 16)
            append(address.high.bigEndian)
            append(address.low.bigEndian)
        }
    }

    mutating func attribute(_ type: some BinaryInteger, _ payload: [UInt8]) {
        begin(type, payloadBytes: payload.count)
        bytes += payload
        while bytes.count % 4 != 0 { bytes.append(0) }
    }

    private mutating func begin(_ type: some BinaryInteger, payloadBytes: Int) {
        append(nlattr(nla_len: UInt16(MemoryLayout<nlattr>.size + payloadBytes), nla_type: UInt16(type)))
    }

    private mutating func append(_ value: some BitwiseCopyable) {
        withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        while bytes.count % 4 != 0 { bytes.append(0) }
    }
}
