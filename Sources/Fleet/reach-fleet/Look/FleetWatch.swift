internal import Dispatch
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// Follows the fleet's buckets and streams on threads of their own, and applies what they read on the loop.
///
/// Each thread waits until the loop has applied a batch: a slow terminal delays the reading, and nothing grows.
final class FleetWatch {
    private enum Source: Sendable, CaseIterable {
        case hosts, notes, state, lease, connections, events

        var stream: String {
            switch self {
            case .hosts: FleetNames.stream(of: HostList.bucket)
            case .notes: FleetNames.stream(of: FleetNames.notes)
            case .state: FleetNames.stream(of: FleetNames.state)
            case .lease: FleetNames.stream(of: FleetNames.lease)
            case .connections: FleetNames.connections
            case .events: FleetNames.events
            }
        }

        var filter: String {
            switch self {
            case .hosts: FleetNames.subject(ofKey: ">", in: HostList.bucket)
            case .notes: FleetNames.subject(ofKey: ">", in: FleetNames.notes)
            case .state: FleetNames.subject(ofKey: ">", in: FleetNames.state)
            case .lease: FleetNames.subject(ofKey: ">", in: FleetNames.lease)
            case .connections: "reach.v1.conn.>"
            case .events: FleetNames.eventSubject(of: "*")
            }
        }

        var start: StreamStart {
            switch self {
            case .hosts, .notes, .state, .lease: .lastOfEachSubject
            case .connections, .events: .new
            }
        }

        /// Whether the watch is not ready without it. Streams may be missing.
        var isNeeded: Bool { self == .state || self == .lease }
    }

    /// For the handlers of other threads, which post to the loop.
    private let reference: LoopReference<FleetWatch>
    private let link: NATSLink
    private let loop: EventLoop
    private let output: WatchOutput
    /// Instead of changes and events, where somebody watches for alerts.
    private let alerts: AlertDesk?
    private let clockOffset: Duration
    private var state: FleetWatchState
    private var followers: [StreamFollower] = []
    private var missing: Set<Source>
    private var troubled: Set<Source> = []
    /// While the server does not answer, and until what it stored meanwhile is read, no lease has run out.
    private var restsUntil: BootTime?
    private var isConnected = true

    init(
        _ link: NATSLink, _ view: FleetView, on loop: EventLoop, output: WatchOutput, alerts: AlertDesk?,
        reference: LoopReference<FleetWatch>
    ) {
        self.reference = reference
        self.link = link
        self.loop = loop
        self.output = output
        self.alerts = alerts
        missing = Set(Source.allCases)
        clockOffset = view.clockOffset ?? .zero
        state = FleetWatchState(engine: view.engine)
        reference.owner = self
    }

    deinit { reference.owner = nil }

    func start() {
        // Reports of connections name keys, so the list of hosts is read before.
        for source in Source.allCases where source != .connections { follow(source) }
        tick()
    }

    private func follow(_ source: Source) {
        let mailbox = loop.mailbox
        let reference = self.reference
        // A host whose connection ended is silent, though its lease may last for a while. Who is called hears of no
        // event, and of absences that a host reported shortly before.
        let isPast = source == .connections || source == .events && alerts != nil
        let start = isPast ? .time(now + (.zero - FleetView.connectionAge)) : source.start
        let follower = StreamFollower(link, stream: source.stream, filter: source.filter, from: start)
        followers.append(follower)
        follower.start { event in
            let applied = DispatchSemaphore(value: 0)
            let isPosted = mailbox.post { _ in
                reference.owner?.apply(event, from: source)
                applied.signal()
            }
            if isPosted { applied.wait() }
        }
    }

    func stop() {
        reference.owner = nil
        for follower in followers { follower.stop() }
        link.close()
    }

    /// What happened to the connection.
    func link(_ event: NATSLink.Event) {
        switch event {
        case .disconnected(let error), .closed(let error):
            isConnected = false
            if alerts == nil { output.engine(isConnected: false, why: error.description) }
            alerts?.engine(isConnected: false, now)
        case .reconnected:
            isConnected = true
            restsUntil = SystemClock.boot + Self.catchUp
            state.reconnected(started: (try? ServerStatus.ask(link, within: .seconds(2)))?.started)
            if alerts == nil { output.engine(isConnected: true, why: nil) }
            alerts?.engine(isConnected: true, now)
        case .lameDuck, .fault: break
        }
    }

    /// How long reading takes what was stored while the connection was gone.
    private static let catchUp: Duration = .seconds(10)

    private var now: Timestamp { SystemClock.now.wall + clockOffset }

    /// Nothing says that a lease ran out.
    private func tick() {
        if isConnected, restsUntil.map({ $0 <= SystemClock.boot }) ?? true {
            restsUntil = nil
            for change in state.tick(now) { show(change) }
        } else {
            state.engine.now = now
        }
        if state.isReady, restsUntil == nil { alerts?.tick(state) }
        loop.schedule(at: SystemClock.boot + .seconds(1)) { [unowned self] in tick() }
    }

    private func apply(_ event: StreamFollower.Event, from source: Source) {
        switch event {
        case .message(let message): apply(message, from: source)
        case .caughtUp:
            troubled.remove(source)
            caughtUp(source)
        case .restarted: output.note("stream \(source.stream) began again; it is read from its start")
        case .interrupted(let error):
            if !source.isNeeded { caughtUp(source) }
            guard troubled.insert(source).inserted else { return }
            output.note(error.description)
        }
    }

    private func caughtUp(_ source: Source) {
        guard missing.remove(source) != nil else { return }
        if source == .hosts { follow(.connections) }
        guard missing.isEmpty else { return }
        state.engine.now = now
        output.begin(&state)
        alerts?.begin(state)
    }

    private func apply(_ message: StoredMessage, from source: Source) {
        state.engine.now = now
        switch source {
        case .hosts:
            guard let entry = KeyValueEntry(message, bucket: HostList.bucket) else { return }
            state.apply(listed: entry.key, entry.value.flatMap { HostList.entry(entry.key, $0) })
        case .notes:
            guard let entry = KeyValueEntry(message, bucket: FleetNames.notes) else { return }
            if let host = state.apply(noteKey: entry.key, entry.value, storedAt: entry.time) { alerts?.forget(host) }
        case .state:
            guard let entry = KeyValueEntry(message, bucket: FleetNames.state) else { return }
            show(state.apply(state: entry.value, of: entry.key, storedAt: entry.time))
        case .lease:
            guard let entry = KeyValueEntry(message, bucket: FleetNames.lease) else { return }
            show(
                state.apply(
                    lease: entry.value, of: entry.key, storedAt: entry.time, isExpired: entry.isExpired))
        case .connections: show(state.apply(advisory: message.payload))
        case .events:
            let events = state.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            guard alerts == nil else { return }
            for event in events { output.event(event, of: state.roster[event.host], state.engine) }
        }
    }

    private func show(_ change: FleetWatchState.Change?) {
        guard let change else { return }
        guard let alerts else { return output.change(change) }
        alerts.change(change, state)
    }
}
