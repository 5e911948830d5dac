internal import Glibc

/// Bytes on their way into a socket that may be slow, without ever waiting for it.
struct SocketOutput: ~Copyable {
    private let descriptor: CInt
    /// What the socket did not take.
    private var pending: [UInt8] = []
    private var sent = 0
    private(set) var hasFailed = false

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    var isEmpty: Bool { pending.isEmpty }

    /// Bytes that the socket has yet to take.
    var pendingCount: Int { pending.count - sent }

    /// Sends bytes, and keeps those that are not taken now.
    mutating func send(_ bytes: [UInt8]) {
        guard isEmpty else { return pending += bytes }
        let count = push(bytes, from: 0)
        if count < bytes.count, !hasFailed { pending = Array(bytes[count...]) }
    }

    /// Sends what is pending, as far as it is taken.
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
