internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// A TCP connection that is closed as soon as it stands.
final class ConnectionAttempt: DiagnosisAttempt {
    private let loop: EventLoop
    private let completion: (ConnectionAnswer) -> Void
    private let socket: CInt
    private var isWatched = false
    private var timer: TimerQueue.ID?

    init(
        _ host: HostAddress, _ port: UInt16, _ loop: EventLoop, _ completion: @escaping (ConnectionAnswer) -> Void
    ) {
        self.loop = loop
        self.completion = completion
        socket = reach_stream_socket(host.family == .ipv4 ? AF_INET : AF_INET6)
        if let answer = begin(host.socketAddress(port)) {
            loop.afterEvents { [weak self] in self?.completion(answer) }
        }
    }

    deinit {
        timer.map(loop.cancel)
        if isWatched { loop.unwatch(socket) }
        if socket >= 0 { close(socket) }
    }

    /// - Returns: The answer, if there is one at once.
    private func begin(_ address: SocketAddress) -> ConnectionAnswer? {
        guard socket >= 0 else { return ConnectionAnswer(errno: -socket) }
        let result = address.withPointer { connect(socket, $0.assumingMemoryBound(to: sockaddr.self), $1) }
        guard result != 0 else { return .connected }
        guard errno == EINPROGRESS else { return ConnectionAnswer(errno: errno) }
        do throws(SystemError) {
            try loop.watch(socket, for: .writable) { [weak self] _ in self?.look() }
            isWatched = true
        } catch {
            return .failed(error.number)
        }
        timer = loop.schedule(at: SystemClock.boot + DiagnosisRunner.Limit.connection) { [weak self] in
            self?.timer = nil
            self?.completion(.silent)
        }
        return nil
    }

    private func look() {
        var number: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &number, &length)
        // What came later came from elsewhere: IPv6 reports a router's "prohibited" as EACCES.
        completion(number == 0 ? .connected : number == EACCES ? .unreachable(number) : ConnectionAnswer(errno: number))
    }
}

extension ConnectionAnswer {
    fileprivate init(errno number: CInt) {
        switch number {
        case ECONNREFUSED: self = .refused
        case ETIMEDOUT: self = .silent
        // Also where a router, or a neighbour's silence, answers.
        case EHOSTUNREACH, ENETUNREACH, ECONNRESET, EHOSTDOWN, ENOPROTOOPT: self = .unreachable(number)
        default: self = .failed(number)
        }
    }
}
