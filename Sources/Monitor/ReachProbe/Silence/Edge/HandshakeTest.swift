internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTransfer

/// Begins TCP connections to servers by one path, one after the other, until one answers or the time is over. Nothing
/// is sent over them. Confined to the loop's thread.
///
/// Where the path works, the first one is answered after a round trip, and the others are not begun.
final class HandshakeTest {
    /// Time between two connections.
    private static let gap: Duration = .milliseconds(45)
    /// No connection begins with less than this time left, in which an answer could not come.
    private static let leastTime: Duration = .milliseconds(300)

    private let servers: [TrafficQuestion.Remote]
    private let binding: InterfaceBinding
    private let most: Int
    private let loop: EventLoop
    private var completion: ((SilenceTestResult) -> Void)?
    private var sockets: [CInt] = []
    private var tried = 0
    /// Those whose first packet was sent: what this machine refuses says nothing about the path.
    private(set) var begun = 0
    private let deadline: BootTime
    private lazy var limit = DeadlineTimer(on: loop) { [unowned self] in timeIsOver() }
    private lazy var next = DeadlineTimer(on: loop) { [unowned self] in begin() }

    /// - Parameters:
    ///   - servers: At least one.
    ///   - most: The most connections.
    ///   - time: When the test ends without an answer.
    ///   - completion: Called once, after this returns, unless the test is released.
    init(
        _ servers: [TrafficQuestion.Remote], by route: DefaultRoute, most: Int, within time: Duration,
        on loop: EventLoop, completion: @escaping (SilenceTestResult) -> Void
    ) {
        self.servers = servers
        self.most = most
        self.loop = loop
        self.completion = completion
        binding = InterfaceBinding(name: route.name, index: UInt32(bitPattern: route.key.interface))
        let now = SystemClock.boot
        deadline = now + time
        limit.set(to: deadline)
        next.set(to: now)
    }

    deinit { stop() }

    private func begin() {
        let now = SystemClock.boot
        guard completion != nil, tried < most else { return }
        connect(to: servers[tried % servers.count])
        tried += 1
        if tried < most, now + Self.gap + Self.leastTime < deadline { next.set(to: now + Self.gap) }
    }

    private func connect(to server: TrafficQuestion.Remote) {
        let socket = reach_stream_socket(server.address.family == .ipv4 ? AF_INET : AF_INET6)
        guard socket >= 0 else { return }
        do throws(SystemError) {
            try InterfaceSocket.bind(socket, to: binding)
            // A connection that is established is reset: nothing stays behind, here or at the server.
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
            let result = SocketAddress(address: server.address, port: server.port).withPointer {
                Glibc.connect(socket, $0.assumingMemoryBound(to: sockaddr.self), $1)
            }
            guard result == 0 || errno == EINPROGRESS else { throw SystemError(call: "connect") }
            try loop.watch(socket, for: .writable) { [unowned self] _ in look(at: socket) }
            sockets.append(socket)
            begun += 1
        } catch {
            close(socket)
        }
    }

    private func look(at socket: CInt) {
        let number = Self.error(of: socket)
        // A refusal comes from the server as well. Anything else comes from this machine or from a router.
        if number == 0 || number == ECONNREFUSED { return end(isAnswered: true) }
        loop.unwatch(socket)
        close(socket)
        sockets.removeAll { $0 == socket }
    }

    private func timeIsOver() {
        // An answer may have come in the same turn of the loop, after the timer.
        end(isAnswered: sockets.contains(where: Self.isAnswered))
    }

    private static func isAnswered(_ socket: CInt) -> Bool {
        var events = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        guard poll(&events, 1, 0) == 1 else { return false }
        let number = error(of: socket)
        return number == 0 || number == ECONNREFUSED
    }

    private static func error(of socket: CInt) -> CInt {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length)
        return number
    }

    private func end(isAnswered: Bool) {
        guard let completion else { return }
        let result = SilenceTestResult(isAnswered: isAnswered, handshakes: begun)
        stop()
        // The completion may release the test.
        loop.afterEvents { completion(result) }
    }

    private func stop() {
        completion = nil
        for socket in sockets {
            loop.unwatch(socket)
            close(socket)
        }
        sockets = []
    }
}
