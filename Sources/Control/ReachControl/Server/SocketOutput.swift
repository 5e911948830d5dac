internal import Glibc

/// An output buffer for a socket, which never blocks.
struct SocketOutput: ~Copyable {
    private let descriptor: CInt
    /// Bytes to send; empty if the socket has taken all.
    private var pending: [UInt8] = []
    /// How many bytes of `pending` the socket has taken.
    private var sent = 0
    /// Whether the socket has refused bytes that were offered, and has had no chance to take others since.
    private var isFull = false
    private(set) var hasFailed = false

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Whether more can be sent now.
    var isEmpty: Bool { pending.isEmpty && !isFull }

    /// Bytes that the socket has yet to take.
    var pendingCount: Int { pending.count - sent }

    /// Sends bytes, and keeps those that the socket does not take now.
    mutating func send(_ bytes: [UInt8]) {
        guard isEmpty else { return pending += bytes }
        keep(bytes, after: push(bytes, from: 0))
    }

    /// Sends bytes that can be made again: if the socket takes none of them now, they are not kept.
    ///
    /// - Returns: Whether the socket has taken them, or a part after which the rest must follow.
    mutating func offer(_ bytes: [UInt8]) -> Bool {
        guard isEmpty else { return false }
        let count = push(bytes, from: 0)
        isFull = count == 0 && !hasFailed
        if !isFull { keep(bytes, after: count) }
        return !isFull
    }

    private mutating func keep(_ bytes: [UInt8], after count: Int) {
        guard count < bytes.count, !hasFailed else { return }
        guard bytes.count > Self.copied else { return pending = Array(bytes[count...]) }
        pending = bytes
        sent = count
    }

    /// Up to this size what is left is copied: `bytes` is a buffer that the caller uses again, and may have room for
    /// twice as much. Beyond it may be half a mebibyte, and is kept without a copy.
    private static let copied = 16384

    /// Sends pending bytes until the socket takes no more. Call it once the socket takes bytes again.
    mutating func flush() {
        isFull = false
        sent += push(pending, from: sent)
        guard sent == pending.count || hasFailed else { return }
        pending = []
        sent = 0
    }

    private mutating func push(_ bytes: [UInt8], from start: Int) -> Int {
        var count = 0
        while start + count < bytes.count {
            let result = bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[(start + count)...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if result >= 0 {
                count += result
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                hasFailed = true
                break
            }
        }
        return count
    }
}
