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
