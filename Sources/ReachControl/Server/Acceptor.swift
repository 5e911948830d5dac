internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Takes connections from a listening socket. Out of descriptors it turns them away instead of leaving them to wait,
/// which would wake the loop without end.
final class Acceptor {
    private let socket: ListeningSocket
    private let loop: EventLoop
    private let take: (CInt) -> Void
    private let report: (SystemError) -> Void
    /// Kept for turning away the connection that there is no descriptor for.
    private var spare: CInt
    private var pause: TimerQueue.ID?
    private var isInTrouble = false

    /// Others are served after so many.
    private static let connectionsPerTurn = 64
    private static let pauseLength: Duration = .milliseconds(100)

    /// - Parameters:
    ///   - take: Called with each connection, whose descriptor is its own from then on.
    ///   - report: Called when connections begin to be turned away.
    init(
        _ socket: ListeningSocket, on loop: EventLoop, report: @escaping (SystemError) -> Void,
        take: @escaping (CInt) -> Void
    ) throws(SystemError) {
        self.socket = socket
        self.loop = loop
        self.take = take
        self.report = report
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
                isInTrouble = false
                take(result)
            case EAGAIN: return
            case EMFILE, ENFILE:
                tell(-result)
                guard turnAway() else { return rest() }
            case ECONNABORTED: continue
            default:
                tell(-result)
                return rest()
            }
        }
    }

    /// - Returns: Whether the next can be turned away, too.
    private func turnAway() -> Bool {
        guard spare >= 0 else { return false }
        close(spare)
        let connection = reach_accept(socket.descriptor)
        if connection >= 0 { close(connection) }
        spare = Self.openSpare()
        return spare >= 0 && connection >= 0
    }

    private func rest() {
        try? loop.change(socket.descriptor, to: [])
        pause = loop.schedule(at: SystemClock.boot + Self.pauseLength) { [unowned self] in
            pause = nil
            if spare < 0 { spare = Self.openSpare() }
            try? loop.change(socket.descriptor, to: .readable)
        }
    }

    /// Once, until a connection is taken again.
    private func tell(_ number: CInt) {
        guard !isInTrouble else { return }
        isInTrouble = true
        report(SystemError(call: "accept4", number: number))
    }

    private static func openSpare() -> CInt { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
