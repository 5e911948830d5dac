internal import CReachLinux
internal import Glibc
internal import ReachCore
package import ReachFleet
internal import ReachLoop

/// What a server says before anybody has signed in.
package struct ServerGreeting: Hashable, Sendable {
    package let version: ServerVersion?

    /// Connects, reads the first line and hangs up. Blocks for at most twice `limit` and
    /// the time that the resolver takes.
    ///
    /// - Returns: `nil` if no server greets there: also where TLS comes first.
    package static func read(_ server: NATSServer, within limit: Duration = .seconds(5)) -> ServerGreeting? {
        let deadline = SystemClock.boot + limit
        guard let socket = connect(server, limit) else { return nil }
        var line: [UInt8] = []
        // A server that sends a byte now and then must not hold the caller longer.
        while !line.contains(UInt8(ascii: "\n")), line.count < 32 << 10, SystemClock.boot < deadline {
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(socket.rawValue, &buffer, buffer.count)
            guard count > 0 else { break }
            line += buffer.prefix(count)
        }
        return ServerGreeting(line: line)
    }

    /// Whether a server that does not greet answers in TLS. Blocks for at most as long as ``read(_:within:)``.
    package static func beginsWithTLS(_ server: NATSServer, within limit: Duration = .seconds(1)) -> Bool {
        guard server.isEncrypted, let socket = connect(server, limit) else { return false }
        var first = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
        guard poll(&first, 1, CInt(limit.nanoseconds / 2_000_000)) == 0 else { return false }
        // The head of a handshake that no server accepts: one that speaks TLS says so in a record of its own.
        let hello: [UInt8] = [0x16, 3, 1, 0, 4, 1, 0, 0, 0]
        guard Glibc.send(socket.rawValue, hello, hello.count, CInt(MSG_NOSIGNAL)) == hello.count else {
            return false
        }
        var answer: UInt8 = 0
        let (alert, handshake) = (0x15 as UInt8, 0x16 as UInt8)
        return Glibc.read(socket.rawValue, &answer, 1) == 1 && (answer == alert || answer == handshake)
    }

    /// Reads `INFO {...}`.
    init?(line: [UInt8]) {
        guard line.starts(with: Array("INFO ".utf8)), let end = line.firstIndex(of: UInt8(ascii: "\n")),
            let json = try? JSONReader.read(Array(line[5..<end]), .asFoundation)
        else { return nil }
        version = json["version"]?.string.flatMap { ServerVersion($0) }
    }

    private static func connect(_ server: NATSServer, _ limit: Duration) -> FileDescriptor? {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(server.bracketedAddress ?? server.host, String(server.port), &hints, &list) == 0, let list
        else { return nil }
        defer { freeaddrinfo(list) }
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let address = next {
            let number = socket(
                address.pointee.ai_family, address.pointee.ai_socktype | CInt(SOCK_CLOEXEC.rawValue), 0)
            guard number >= 0 else { return nil }
            let socket = FileDescriptor(owning: number)
            // The limits of connecting, writing and reading of a socket that blocks.
            let milliseconds = limit.nanoseconds / 1_000_000
            var time = timeval(tv_sec: Int(milliseconds / 1000), tv_usec: Int(milliseconds % 1000 * 1000))
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, size)
            setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, size)
            if Glibc.connect(number, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 { return socket }
            next = address.pointee.ai_next
        }
        return nil
    }
}
