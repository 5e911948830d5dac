internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// Serves the metrics over HTTP: one page, in bounded memory and time, on the loop of the metrics' thread.
///
/// A general web server would cost more than it saves: swift-nio is megabytes of code, with threads of its own.
final class MetricsServer {
    private let listener: CInt
    private let loop: EventLoop
    private let source: MetricsSource
    private var connections: [CInt: MetricsConnection] = [:]
    private var accepted: UInt64 = 0
    /// Ends a pause; `nil` while connections are accepted.
    private var pause: TimerQueue.ID?

    /// The limit of connections. Prometheus has one, and one for each target; others may stay silent.
    private static let connectionLimit = 2 * ScrapePlaces.all
    /// The limit of connections accepted before the loop handles other events, such as the requests of the accepted
    /// ones.
    private static let acceptsPerTurn = 16
    /// How long nothing is accepted after a failure: without free descriptors the socket stays readable.
    private static let pauseLength: Duration = .milliseconds(100)

    /// Takes ownership of the listening socket.
    init(listener: CInt, on loop: EventLoop, _ source: MetricsSource) {
        self.listener = listener
        self.loop = loop
        self.source = source
        try? loop.watch(listener, for: .readable) { [unowned self] _ in accept() }
    }

    func stop() {
        pause.map(loop.cancel)
        loop.unwatch(listener)
        close(listener)
        connections.values.forEach { $0.close() }
    }

    private func accept() {
        for _ in 0..<Self.acceptsPerTurn {
            let descriptor = reach_accept(listener)
            switch -descriptor {
            case ...0: break
            case EAGAIN: return
            case ECONNABORTED: continue
            default: return pauseAccepting()
            }
            makeRoom()
            accepted += 1
            // Without an address it has ended already.
            let client = ScrapeClient(SocketAddress.peer(of: descriptor))
            connections[descriptor] = MetricsConnection(
                descriptor, number: accepted, of: client, on: loop, source
            ) { [unowned self] in connections[descriptor] = nil }
        }
    }

    private func pauseAccepting() {
        try? loop.change(listener, to: [])
        pause = loop.schedule(at: SystemClock.boot + Self.pauseLength) { [unowned self] in
            pause = nil
            try? loop.change(listener, to: .readable)
        }
    }

    /// Closes a connection at the limit: the one that has been silent for longest, else the oldest. Real clients send
    /// their request at once, and are answered within milliseconds.
    private func makeRoom() {
        guard connections.count >= Self.connectionLimit else { return }
        let all = connections.values
        let idle = all.lazy.filter { !$0.isBeingAnswered }.min { $0.number < $1.number }
        (idle ?? all.min { $0.number < $1.number })?.close()
    }
}
