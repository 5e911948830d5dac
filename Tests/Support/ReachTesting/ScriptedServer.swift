internal import CReachLinux
internal import Glibc
package import ReachCore
internal import ReachLoop
internal import Synchronization

/// A TCP server that runs a test's script on each connection, byte by byte: for faults that no real server has.
///
///     let server = try ScriptedServer { connection in
///         connection.readRequest()
///         connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
///     }
///
/// By default it listens on a free port of 127.0.0.1. Each connection has a thread of its own, and is closed when the
/// script returns.
package final class ScriptedServer: Sendable {
    package typealias Script = @Sendable (Connection) -> Void

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let port: UInt16
    /// The requests that scripts have read, in order.
    package let requests = EventLog<String>()
    private let listener: CInt

    /// - Parameter namespace: The namespace to listen in; `nil` for the test's own.
    package init(
        in namespace: TestNamespace? = nil, at address: IPAddress = IPAddress(ipv4: 0x7f00_0001), port: UInt16 = 0,
        _ script: @escaping Script
    ) throws {
        (listener, self.port) = try Self.listen(in: namespace, at: address, port)
        // A descriptor of its own, so that the number of a closed one is never used, which another socket may have.
        let (accepting, requests) = (fcntl(listener, F_DUPFD_CLOEXEC, 0), requests)
        BackgroundThread.start(named: "test-server") {
            // The listening socket is shut down when it is no longer valid to accept (EINVAL).
            while case let descriptor = reach_accept(accepting), descriptor != -EINVAL, descriptor != -EBADF {
                guard descriptor >= 0 else {
                    var poll = pollfd(fd: accepting, events: Int16(POLLIN), revents: 0)
                    guard Glibc.poll(&poll, 1, -1) >= 0 || errno == EINTR, poll.revents & Int16(POLLHUP) == 0 else {
                        break
                    }
                    continue
                }
                BackgroundThread.start(named: "test-connection") {
                    let connection = Connection(descriptor: descriptor, requests: requests)
                    script(connection)
                    connection.close()
                }
            }
            close(accepting)
        }
    }

    deinit {
        // Ends the wait of the accepting thread.
        shutdown(listener, CInt(SHUT_RDWR))
        close(listener)
    }

    private static func listen(
        in namespace: TestNamespace?, at address: IPAddress, _ port: UInt16
    ) throws -> (CInt, UInt16) {
        let result = Mutex<Result<(CInt, UInt16), Failure>?>(nil)
        let ready = ThreadGate()
        BackgroundThread.start(named: "test-listen") {
            if let namespace { reach_enter_network_namespace(namespace.descriptor) }
            let opened = open(at: address, port)
            result.withLock { $0 = opened }
            ready.open()
        }
        ready.wait()
        guard let opened = result.withLock({ $0 }) else { throw Failure(description: "no listener") }
        return try opened.get()
    }

    private static func open(at address: IPAddress, _ port: UInt16) -> Result<(CInt, UInt16), Failure> {
        let isIPv4 = address.family == .ipv4
        let type = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let listener = socket(isIPv4 ? AF_INET : AF_INET6, type, 0)
        var (one, name, length) = (CInt(1), sockaddr_in6(), socklen_t(MemoryLayout<sockaddr_in6>.size))
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
        return withUnsafeMutableBytes(of: &name) { bytes in
            bytes.storeBytes(of: sa_family_t(isIPv4 ? AF_INET : AF_INET6), as: sa_family_t.self)
            bytes.storeBytes(of: port.bigEndian, toByteOffset: 2, as: UInt16.self)
            // The offset of the address in struct sockaddr_in and in struct sockaddr_in6.
            for (index, byte) in address.bytes.enumerated() { bytes[(isIPv4 ? 4 : 8) + index] = byte }
            guard let generic = bytes.bindMemory(to: sockaddr.self).baseAddress else {
                return .failure(Failure(description: "no address"))
            }
            let size = socklen_t(isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
            guard bind(listener, generic, size) == 0, Glibc.listen(listener, 128) == 0,
                getsockname(listener, generic, &length) == 0
            else {
                let number = errno
                close(listener)
                return .failure(Failure(description: "\(address) port \(port): \(String(cString: strerror(number)))"))
            }
            return .success((listener, UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))))
        }
    }
}

extension ScriptedServer {
    /// A client's connection, for use on the script's thread.
    package final class Connection {
        private var descriptor: CInt
        private let requests: EventLog<String>
        private var unread: [UInt8] = []

        init(descriptor: CInt, requests: EventLog<String>) {
            self.descriptor = descriptor
            self.requests = requests
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        }

        /// Reads a request, with a body as long as Content-Length says.
        ///
        /// - Returns: The whole request, or the part that arrived before the client closed the connection.
        @discardableResult
        package func readRequest() -> String {
            var size: Int?
            while true {
                if size == nil { size = sizeOfRequest }
                if let size, unread.count >= size { return removeRequest(size) }
                guard readMore() else { return removeRequest(unread.count) }
            }
        }

        /// The size of the request with its body; `nil` until the head is complete.
        private var sizeOfRequest: Int? {
            let end = Array("\r\n\r\n".utf8)
            guard let start = unread.indices.first(where: { unread[$0...].starts(with: end) }) else { return nil }
            let head = String(decoding: unread[..<start], as: UTF8.self)
            let length = head.split(separator: "\r\n").lazy.compactMap { line -> Int? in
                guard line.lowercased().hasPrefix("content-length:") else { return nil }
                return Int(line.dropFirst(15).drop { $0 == " " })
            }.first
            return start + end.count + (length ?? 0)
        }

        /// Reads the head of a request, without its body.
        ///
        /// - Returns: `nil` where the client closes the connection before.
        package func readHead() -> String? {
            let end = Array("\r\n\r\n".utf8)
            while true {
                if let start = unread.indices.first(where: { unread[$0...].starts(with: end) }) {
                    defer { unread.removeFirst(start + end.count) }
                    return Self.text(unread.prefix(start))
                }
                guard readMore() else { return nil }
            }
        }

        /// Reads this many bytes.
        ///
        /// - Returns: `nil` where the client closes the connection before.
        package func read(_ count: Int) -> [UInt8]? {
            while unread.count < count { guard readMore() else { return nil } }
            defer { unread.removeFirst(count) }
            return Array(unread.prefix(count))
        }

        /// Connects to a port of 127.0.0.1.
        package func connect(toPort port: UInt16) -> Connection? {
            let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            if isConnected { return Connection(descriptor: descriptor, requests: EventLog()) }
            Glibc.close(descriptor)
            return nil
        }

        /// Passes bytes between two connections until one of them ends, then closes the other.
        package func relay(with other: Connection) {
            defer { other.close() }
            guard other.write(unread), write(other.unread) else { return }
            var polls = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            var buffer = [UInt8](repeating: 0, count: 65536)
            while poll(&polls, 2, -1) > 0 {
                for (index, end) in [self, other].enumerated() where polls[index].revents != 0 {
                    let count = Glibc.read(end.descriptor, &buffer, buffer.count)
                    guard count > 0, (index == 0 ? other : self).write(Array(buffer[..<count])) else { return }
                }
            }
        }

        /// - Returns: `false` when the client has closed the connection.
        @discardableResult
        package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        package func write(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        /// Waits until the client closes its end or sends more.
        package func waitForEnd() { _ = readMore() }

        /// Closes the connection with a RST instead of a FIN.
        package func reset() {
            var setting = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &setting, socklen_t(MemoryLayout<linger>.size))
            close()
        }

        package func close() {
            if descriptor >= 0 { Glibc.close(descriptor) }
            descriptor = -1
        }

        private func removeRequest(_ count: Int) -> String {
            let text = Self.text(unread.prefix(count))
            unread.removeFirst(count)
            if !text.isEmpty { requests.append(text) }
            return text
        }

        /// The bytes as text; where they are not UTF-8, with a question mark for each byte beyond ASCII.
        ///
        /// `String(decoding:as:)` throws an error within itself for each sequence that it repairs, and Swift Testing
        /// captures a backtrace of each error: five megabytes of random bytes took 15 seconds.
        private static func text(_ bytes: ArraySlice<UInt8>) -> String {
            if let text = String(validating: bytes, as: UTF8.self) { return text }
            return String(decoding: bytes.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
        }

        private func readMore() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { return false }
            unread += buffer.prefix(count)
            return true
        }
    }
}
