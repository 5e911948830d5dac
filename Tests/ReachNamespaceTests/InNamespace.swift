internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTesting

extension TestNamespace {
    struct CannotEnter: Error {}

    /// Calls `body` on a thread that is inside, and waits for it.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let results = EventLog<Result<Value, any Error>>()
        let descriptor = descriptor
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0 else { return results.append(.failure(CannotEnter())) }
            results.append(Result { try body() })
        }
        return try await results.wait(for: 1, within: .seconds(30))[0].get()
    }
}

/// A TCP connection between two namespaces, both ends of which are ours; closed with the value.
final class TCPConnection: Sendable {
    let near: CInt
    let far: CInt

    /// - Parameters:
    ///   - isMapped: The near end is an IPv6 socket that talks IPv4.
    static func make(
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

    /// Says something in both directions, and hears it.
    func talk() {
        for (from, to) in [(near, far), (far, near)] {
            var byte: UInt8 = 1
            send(from, &byte, 1, CInt(MSG_NOSIGNAL))
            recv(to, &byte, 1, 0)
        }
    }

    /// One end says farewell, the near one unless the other is asked for, and then the other.
    func part(farFirst: Bool = false) {
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
