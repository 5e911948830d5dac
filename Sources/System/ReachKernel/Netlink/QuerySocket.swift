internal import CNetlink
internal import Glibc

/// A socket for requests to the kernel and its replies. Confined to one thread.
///
/// Each call waits for the reply, which the kernel has ready when `send` returns.
final class QuerySocket {
    private var socket: NetlinkSocket
    private let buffer = DatagramBuffer()
    /// For many short replies: one to a lookup takes about a hundred bytes, and more only if it lists many next hops.
    private lazy var shortReplies = DatagramBuffer(slotBytes: 1024, slotCount: 32)
    private var nextSequence: UInt32 = 1
    /// The number of attempts to dump a table that changes meanwhile.
    private static let dumpAttempts = 3

    init(_ protocolNumber: CInt) throws(NetlinkError) {
        socket = try NetlinkSocket.open(protocolNumber, receiveBufferBytes: 1 << 20)
        socket.setReceiveTimeout(seconds: 5)
    }

    /// An empty batch of requests.
    ///
    /// - Parameter requests: About how many there will be.
    func batch(of requests: Int = 8) -> RequestBatch {
        RequestBatch(firstSequence: nextSequence, requests: requests)
    }

    /// What dumps of a table said.
    struct Dump<Entry> {
        /// The entries, in the kernel's order.
        var last: [Entry] = []
        /// Those of the dumps before, which the kernel interrupted: while a table changes, a dump can pass over an
        /// entry that stays.
        var earlier: [Entry] = []
        /// Whether the table changed during the last dump, too.
        var wasInterrupted = false
    }

    /// Requests a whole table, and again if it changes meanwhile. On a host where containers come and go all the time,
    /// every dump is interrupted; what stays in the table is missed by one dump, but hardly by all of them.
    func dump<T>(
        _ type: Int, _ header: some BitwiseCopyable, attributes: (inout RequestBatch) -> Void = { _ in },
        read: (Message) -> T?
    ) throws(NetlinkError) -> Dump<T> {
        var dump = Dump<T>()
        for _ in 0..<Self.dumpAttempts {
            var batch = batch()
            batch.add(type, flags: NLM_F_DUMP, header, attributes: attributes)
            dump.earlier += dump.last
            dump.last = []
            dump.wasInterrupted = false
            var failure: Int32 = 0
            try exchange(batch) { message in
                if message.has(NLM_F_DUMP_INTR) { dump.wasInterrupted = true }
                if let number = message.errorNumber { failure = number }
                if let value = read(message) { dump.last.append(value) }
            }
            if failure != 0 { throw .refused(errno: failure) }
            if !dump.wasInterrupted { break }
        }
        if !dump.wasInterrupted { dump.earlier = [] }
        return dump
    }

    /// Sends the requests, and calls `read` with each reply until all are answered.
    func exchange(_ batch: RequestBatch, read: (Message) -> Void) throws(NetlinkError) {
        try exchange(batch, by: buffer, read: read)
    }

    /// As ``exchange(_:read:)``, with fewer system calls, if most replies are short.
    ///
    /// - Throws: ``NetlinkError/lost`` also where a reply is too long; then another exchange may succeed.
    func exchangeShortReplies(_ batch: RequestBatch, read: (Message) -> Void) throws(NetlinkError) {
        try exchange(batch, by: shortReplies, read: read)
    }

    private func exchange(
        _ batch: RequestBatch, by buffer: DatagramBuffer, read: (Message) -> Void
    ) throws(NetlinkError) {
        nextSequence = batch.firstSequence &+ UInt32(batch.count)
        try socket.send(batch.bytes)
        var expected = batch.firstSequence
        while expected != nextSequence {
            let count = try socket.receive(into: buffer) { datagram in
                for message in Messages(datagram) {
                    // A reply of an earlier exchange that timed out is skipped.
                    guard message.sequence == expected else { continue }
                    read(message)
                    if !message.has(NLM_F_MULTI) || message.type == NLMSG_DONE { expected &+= 1 }
                }
            }
            if count == 0 { throw .failed(call: "recvmmsg", errno: ETIMEDOUT) }
        }
    }
}
