internal import Glibc
internal import ReachLoop

/// A TCP connection between two namespaces, with both of its sockets. They are closed with the value.
package final class TCPConnection: Sendable {
    /// The socket of the side that connected.
    package let near: CInt
    private let far: CInt

    /// Connects from one namespace to an address of another.
    ///
    /// - Parameter isMapped: Whether the near end is an IPv6 socket with IPv4-mapped addresses.
    package static func make(
        from here: TestNamespace, to there: TestNamespace, _ address: String, port: UInt16 = 443, isMapped: Bool = false
    ) async throws -> TCPConnection {
        let text = address
        let listener = try await there.perform { try listen(at: text, port: port) }
        defer { close(listener) }
        let near = try await here.perform { try connect(to: isMapped ? "::ffff:" + text : text, port: port) }
        let far = accept(listener, nil, nil)
        guard far >= 0 else { throw SystemError(call: "accept") }
        return TCPConnection(near: near, far: far)
    }

    private init(near: CInt, far: CInt) {
        self.near = near
        self.far = far
    }

    deinit {
        for end in [near, far] { close(end) }
    }

    /// Sends a byte in each direction, and receives it.
    package func exchangeBytes() {
        for (from, to) in [(near, far), (far, near)] {
            var byte: UInt8 = 1
            send(from, &byte, 1, CInt(MSG_NOSIGNAL))
            recv(to, &byte, 1, 0)
        }
    }

    /// Shuts down both directions, first from one end and then from the other.
    package func shutDown(farFirst: Bool = false) {
        let (first, second) = farFirst ? (far, near) : (near, far)
        shutdown(first, CInt(SHUT_WR))
        var byte: UInt8 = 0
        recv(second, &byte, 1, 0)
        shutdown(second, CInt(SHUT_WR))
        recv(first, &byte, 1, 0)
    }

    private static func listen(at address: String, port: UInt16) throws -> CInt {
        try open(address, port) { socket, pointer, length in
            var one: CInt = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<CInt>.size))
            return bind(socket, pointer, length) == 0 ? Glibc.listen(socket, 4) : -1
        }
    }

    private static func connect(to address: String, port: UInt16) throws -> CInt {
        try open(address, port) { Glibc.connect($0, $1, $2) }
    }

    private static func open(
        _ address: String, _ port: UInt16, _ body: (CInt, UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws -> CInt {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, String(port), &hints, &list) == 0, let info = list?.pointee else {
            throw SystemError(call: "getaddrinfo")
        }
        defer { freeaddrinfo(list) }
        let opened = socket(info.ai_family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard opened >= 0, body(opened, info.ai_addr, info.ai_addrlen) == 0 else {
            throw SystemError(call: "connect or listen")
        }
        return opened
    }
}
