import Foundation
import ReachControl
import ReachCore
import ReachLoop

/// A client that sends any bytes, and gives access to what it receives.
final class RawClient {
    /// What the test waited for did not arrive.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private var descriptor: CInt
    private var unread: [UInt8] = []
    private(set) var isAtEnd = false

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError(call: "socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw SystemError(call: "connect") }
    }

    deinit { hangUp() }

    func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    /// Shuts down the sending side.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// - Returns: Bytes sent before the server hung up, or without blocking.
    @discardableResult
    func send(_ bytes: [UInt8], waits: Bool = true) -> Int {
        var sent = 0
        let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
        while sent < bytes.count {
            let result = bytes[sent...].withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
            guard result > 0 else { break }
            sent += result
        }
        return sent
    }

    /// Sends a message.
    func send(_ json: String) { send(Array(json.utf8) + [0]) }

    /// The next message.
    func next(within limit: Duration = .seconds(30)) throws -> JSONValue {
        try JSONReader.read(try nextFrame(within: limit))
    }

    /// The bytes of the next message, without its NUL.
    func nextFrame(within limit: Duration) throws -> [UInt8] {
        let deadline = ContinuousClock.now + limit
        while true {
            if let end = unread.firstIndex(of: 0) {
                defer { unread.removeFirst(end + 1) }
                return Array(unread[..<end])
            }
            guard try receive(until: deadline) else { throw Failure(description: "the server hung up") }
        }
    }

    /// Calls and waits for the answer.
    func call(_ json: String) throws -> JSONValue {
        send(json)
        return try next()
    }

    /// The next event of a stream.
    func nextEvent(within limit: Duration = .seconds(30)) throws -> JSONValue {
        let message = try next(within: limit)
        guard let event = message["parameters"]?["event"] else { throw Failure(description: "no event: \(message)") }
        return event
    }

    /// Whether the server hangs up in time, regardless of what it sends before.
    func isHungUp(within limit: Duration = .seconds(30)) -> Bool {
        let deadline = ContinuousClock.now + limit
        while (try? receive(until: deadline)) == true {}
        return isAtEnd
    }

    /// - Returns: Whether bytes arrived; `false` at the end.
    private func receive(until deadline: ContinuousClock.Instant) throws -> Bool {
        let milliseconds = max(0, (deadline - .now) / .milliseconds(1))
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard Glibc.poll(&poll, 1, CInt(milliseconds)) > 0 else { throw Failure(description: "nothing came in time") }
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        isAtEnd = count <= 0
        if count > 0 { unread += bytes[..<count] }
        return count > 0
    }
}
