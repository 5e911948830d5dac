internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Accepts connections from a listening socket. When the process has no descriptor left, it closes new connections at
/// once: left in the queue, they would wake the loop again and again.
final class Acceptor {
    private let socket: ListeningSocket
    private let loop: EventLoop
    private let onConnection: (CInt) -> Void
    private let onError: (SystemError) -> Void
    /// A descriptor that is given up to accept, and close, a connection that there is no other descriptor for.
    private var spare: CInt
    private var pause: TimerQueue.ID?
    private var isFailing = false

    /// The loop serves other descriptors after this many connections.
    private static let connectionsPerTurn = 64
    private static let pauseLength: Duration = .milliseconds(100)

    /// - Parameters:
    ///   - onError: Called when accepting begins to fail, once until a connection is accepted again.
    ///   - onConnection: Called with the descriptor of each connection, which it owns from then on.
    init(
        _ socket: ListeningSocket, on loop: EventLoop, onError: @escaping (SystemError) -> Void,
        onConnection: @escaping (CInt) -> Void
    ) throws(SystemError) {
        self.socket = socket
        self.loop = loop
        self.onConnection = onConnection
        self.onError = onError
        spare = Self.openSpare()
        try loop.watch(socket.descriptor, for: .readable) { [unowned self] _ in accept() }
    }

    deinit {
        loop.unwatch(socket.descriptor)
        pause.map(loop.cancel)
        if spare >= 0 { close(spare) }
    }

    private func accept() {
        for _ in 0..<Self.connectionsPerTurn {
            let result = reach_accept(socket.descriptor)
            switch -result {
            case ...0:
                isFailing = false
                onConnection(result)
            case EAGAIN: return
            case EMFILE, ENFILE:
                report(-result)
                guard rejectConnection() else { return pauseAccepting() }
            case ECONNABORTED: continue
            default:
                report(-result)
                return pauseAccepting()
            }
        }
    }

    /// Accepts a connection by means of the spare descriptor, and closes it.
    ///
    /// - Returns: Whether this can be done for the next one, too.
    private func rejectConnection() -> Bool {
        guard spare >= 0 else { return false }
        close(spare)
        let connection = reach_accept(socket.descriptor)
        if connection >= 0 { close(connection) }
        spare = Self.openSpare()
        return spare >= 0 && connection >= 0
    }

    private func pauseAccepting() {
        try? loop.change(socket.descriptor, to: [])
        pause = loop.schedule(at: SystemClock.boot + Self.pauseLength) { [unowned self] in
            pause = nil
            if spare < 0 { spare = Self.openSpare() }
            try? loop.change(socket.descriptor, to: .readable)
        }
    }

    private func report(_ number: CInt) {
        guard !isFailing else { return }
        isFailing = true
        onError(SystemError(call: "accept4", number: number))
    }

    private static func openSpare() -> CInt { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
