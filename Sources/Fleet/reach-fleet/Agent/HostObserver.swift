internal import ReachControl
internal import ReachCore
internal import ReachFleet
internal import ReachLoop
internal import ReachQueue

/// What the host is now: the Internet as the daemon sees it, probes that are down, and its queue.
final class HostObserver {
    private struct Path: Equatable {
        let epoch: UInt64
        let reason: Reason?
        let interface: String?
    }

    private let socket: String
    private let configuration: AgentConfiguration
    private let loop: EventLoop
    private let handler: (FleetMachine.Input) -> Void
    private var watch: DaemonWatch?
    private var state: HostState
    private var refreshTimer: TimerQueue.ID?
    private var hasDaemon = false
    private var path: Path?
    private var pathChanges: UInt64 = 0
    private(set) var connectivity: Connectivity = .unknown
    /// Called when the daemon answers for the first time, and when it does again.
    var onDaemon: (() -> Void)?

    init(
        path: String, _ configuration: AgentConfiguration, on loop: EventLoop,
        handler: @escaping (FleetMachine.Input) -> Void
    ) {
        socket = path
        self.configuration = configuration
        self.loop = loop
        self.handler = handler
        // The machine fills in the time, the boot and the lease.
        state = HostState(
            host: configuration.identity, version: ProjectVersion.number, written: SystemClock.now, boot: "",
            lease: configuration.lease)
        state.name = configuration.name
        state.labels = configuration.labels
        state.groups = configuration.groups
        state.accepts = configuration.accepted.map(\.rawValue).sorted()
    }

    func start() {
        let watch = DaemonWatch(path: socket, target: .internet, on: loop) { [unowned self] event in handle(event) }
        self.watch = watch
        watch.start()
        refresh()
    }

    private func handle(_ event: StreamEvent) {
        noteDaemon(event)
        guard let current = event.state else { return }
        connectivity = current.connectivity
        var json = JSONWriter()
        json.status(current, source: .daemon, at: SystemClock.now.wall, SystemClock.now.boot)
        guard let document = try? JSONReader.read(json.bytes), let status = try? HostStatus(reading: document) else {
            return
        }
        state.status = configuration.filter.filtered(status)
        handler(.state(state))
        // The daemon's epoch does not count changes between two reasons without a path.
        let path = Path(epoch: current.epoch, reason: current.reason, interface: current.interface)
        if path != self.path { pathChanges += 1 }
        self.path = path
        handler(.path(exists: current.status == .reachable, isMetered: current.isMetered, epoch: pathChanges))
    }

    private func noteDaemon(_ event: StreamEvent) {
        switch event {
        case .disconnected, .unavailable: hasDaemon = false
        case .reconnected, .target, .snapshot:
            guard !hasDaemon else { return }
            hasDaemon = true
            needsRefresh()
            onDaemon?()
        case .dropped, .other: break
        }
    }

    /// Probes and the queue changed: reads them again, once for many events of a moment.
    func needsRefresh() {
        guard refreshTimer == nil else { return }
        refreshTimer = loop.schedule(at: SystemClock.boot + .seconds(1)) { [unowned self] in
            refreshTimer = nil
            refresh()
        }
    }

    private func refresh() {
        do throws(ControlError) {
            var client = try ControlClient(path: socket, patience: .seconds(3))
            state.probesDown = try client.probes().filter { $0.state == .down }.map(\.name)
            state.queue.holds = try client.queueHolds().map(\.source.rawValue)
            state.queue.waiting = try count(&client, [.waiting, .running])
            state.queue.dead = try count(&client, [.dead])
        } catch {
            // A daemon without probes or a queue refuses; one that is away is noticed by the watch.
        }
        handler(.state(state))
    }

    /// The number of this user's requests, or for root of all.
    private func count(
        _ client: inout ControlClient, _ states: Set<QueuedRequestState>
    ) throws(ControlError) -> UInt64 {
        var filter = QueueFilter()
        filter.states = states
        filter.limit = 1
        return UInt64(max(0, try client.requests(filter).count))
    }
}
