internal import Glibc
internal import ReachLoop

/// A connection to the daemon, with what came by it and was not asked for yet.
struct ClientSocket: ~Copyable {
    let path: String
    private let socket: FileDescriptor
    private var reader: FrameReader

    var descriptor: CInt { socket.rawValue }

    /// - Parameters:
    ///   - patience: A daemon that is too busy to take the connection is waited for this long.
    ///   - replyBytes: A longer answer makes no sense.
    init(
        path: String, patience: Duration, replyBytes: Int = FrameReader.standardLimit
    ) throws(ControlError) {
        reader = FrameReader(limit: replyBytes)
        socket = FileDescriptor(owning: try Self.connect(path, patience))
        self.path = path
    }

    private static func connect(_ path: String, _ patience: Duration) throws(ControlError) -> CInt {
        guard let address = UnixAddress(path) else { throw .badPath(path) }
        var socket: CInt = -1
        do throws(SystemError) {
            socket = try UnixAddress.socket(isBlocking: true)
            limitSending(to: patience, socket)
            try address.connect(socket)
            return socket
        } catch {
            if socket >= 0 { close(socket) }
            switch error.number {
            case ENOENT, ECONNREFUSED: throw .notRunning(path: path)
            case EAGAIN: throw .timedOut(path: path)
            default: throw .failed(path: path, error)
            }
        }
    }

    /// Sends a call. One whose connection was refused has been answered already: that is found by reading.
    func send(_ call: VarlinkCall) throws(ControlError) {
        let frame = call.frame
        var sent = 0
        while sent < frame.count {
            let result = frame.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL))
            }
            if result >= 0 {
                sent += result
            } else if errno == EPIPE || errno == ECONNRESET {
                return
            } else if errno == EAGAIN {
                throw .timedOut(path: path)
            } else if errno != EINTR {
                throw .failed(path: path, SystemError(call: "send"))
            }
        }
    }

    /// Receives what is there, without waiting for it.
    ///
    /// - Returns: Whether there was something.
    mutating func receive() throws(ControlError) -> Bool {
        try withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer throws(ControlError) in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            if count < 0, errno == EAGAIN || errno == EINTR { return false }
            guard count > 0 else {
                throw reader.pendingCount == 0 ? .closed(path: path) : .notUnderstood("it ends in the middle")
            }
            reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return true
        }
    }

    /// - Returns: The next whole reply of those received, or `nil`.
    mutating func nextReply() throws(ControlError) -> VarlinkReply? {
        do {
            guard let frame = try reader.next() else { return nil }
            return try VarlinkReply(reading: frame)
        } catch let error as VarlinkFault {
            throw .notUnderstood("\(error)")
        } catch {
            throw .notUnderstood("a message of more than \(FrameReader.standardLimit) bytes")
        }
    }

    /// Sending includes connecting (socket(7), SO_SNDTIMEO).
    private static func limitSending(to patience: Duration, _ socket: CInt) {
        let (seconds, attoseconds) = patience.components
        // A time of zero would be none.
        var time = timeval(tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
