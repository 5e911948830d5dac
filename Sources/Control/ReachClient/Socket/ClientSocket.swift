internal import CReachLinux
internal import Glibc
package import ReachLoop

/// A connection to the daemon, with a buffer of received bytes.
package struct ClientSocket: ~Copyable {
    package let path: String
    private let socket: FileDescriptor
    private var reader: FrameReader

    package var descriptor: CInt { socket.rawValue }

    /// - Parameter patience: The longest wait for a daemon that is too busy to accept the connection.
    package init(path: String, patience: Duration) throws(ControlError) {
        reader = FrameReader()
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

    /// Sends a call that is within the limits (``CallLimits``). If the daemon has closed the connection, this does not
    /// fail: the daemon may have sent its reason, which ``receive()`` reads.
    ///
    /// - Parameter memory: Its descriptor goes with the first bytes.
    package func send(
        _ call: VarlinkCall, with memory: SealedMemory? = nil, within limits: CallLimits
    ) throws(ControlError) {
        do throws(VarlinkError) { try limits.check(call) } catch { throw .refused(error) }
        let frame = call.frame
        var sent = 0
        while sent < frame.count {
            let result = frame.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[sent...])
                if sent == 0, let memory {
                    return reach_send(descriptor, rest.baseAddress, UInt(rest.count), memory.descriptor)
                }
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

    /// Receives available bytes, without blocking.
    ///
    /// - Returns: Whether there were any.
    package mutating func receive() throws(ControlError) -> Bool {
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

    /// - Returns: The next complete reply in the buffer; `nil` if there is none.
    package mutating func nextReply() throws(ControlError) -> VarlinkReply? {
        do {
            guard let frame = try reader.next() else { return nil }
            return try VarlinkReply(reading: frame)
        } catch let error as VarlinkFault {
            throw .notUnderstood("\(error)")
        } catch {
            throw .notUnderstood("a message of more than \(FrameReader.standardLimit) bytes")
        }
    }

    /// Limits the time of send(2) and connect(2) (SO_SNDTIMEO, socket(7)).
    private static func limitSending(to patience: Duration, _ socket: CInt) {
        let (seconds, attoseconds) = patience.components
        // A time of zero would mean no limit.
        var time = timeval(tv_sec: Int(seconds), tv_usec: max(1, Int(attoseconds / 1_000_000_000_000)))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
