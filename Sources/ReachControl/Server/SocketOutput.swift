internal import Glibc

/// An output buffer for a socket, which never blocks.
struct SocketOutput: ~Copyable {
    private let descriptor: CInt
    /// Bytes to send; empty if the socket has taken all.
    private var pending: [UInt8] = []
    /// How many bytes of `pending` the socket has taken.
    private var sent = 0
    private(set) var hasFailed = false

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    var isEmpty: Bool { pending.isEmpty }

    /// Bytes that the socket has yet to take.
    var pendingCount: Int { pending.count - sent }

    /// Sends bytes, and keeps those that the socket does not take now.
    mutating func send(_ bytes: [UInt8]) {
        guard isEmpty else { return pending += bytes }
        let count = push(bytes, from: 0)
        guard count < bytes.count, !hasFailed else { return }
        // Without a copy: it may be half a mebibyte.
        pending = bytes
        sent = count
    }

    /// Sends pending bytes until the socket takes no more.
    mutating func flush() {
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
