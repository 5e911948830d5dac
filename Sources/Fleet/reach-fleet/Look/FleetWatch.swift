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
        case hosts, state, lease, connections, events

        var stream: String {
            switch self {
            case .hosts: FleetNames.stream(of: HostList.bucket)
            case .state: FleetNames.stream(of: FleetNames.state)
            case .lease: FleetNames.stream(of: FleetNames.lease)
            case .connections: FleetNames.connections
            case .events: FleetNames.events
            }
        }

        var filter: String {
            switch self {
            case .hosts: FleetNames.subject(ofKey: ">", in: HostList.bucket)
            case .state: FleetNames.subject(ofKey: ">", in: FleetNames.state)
            case .lease: FleetNames.subject(ofKey: ">", in: FleetNames.lease)
            case .connections: "reach.v1.conn.>"
            case .events: FleetNames.eventSubject(of: "*")
            }
        }

        var start: StreamStart {
            switch self {
            case .hosts, .state, .lease: .lastOfEachSubject
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
    private let clockOffset: Duration
    private var state: FleetWatchState
    private var followers: [StreamFollower] = []
    private var missing: Set<Source> = Set(Source.allCases)
    private var troubled: Set<Source> = []

    init(
        _ link: NATSLink, _ view: FleetView, on loop: EventLoop, output: WatchOutput,
        reference: LoopReference<FleetWatch>
    ) {
        self.reference = reference
        self.link = link
        self.loop = loop
        self.output = output
        clockOffset = view.clockOffset ?? .zero
        state = FleetWatchState(engine: view.engine)
        reference.owner = self
    }

    deinit { reference.owner = nil }

    func start() {
        let mailbox = loop.mailbox
        let reference = self.reference
        for source in Source.allCases {
            let follower = StreamFollower(link, stream: source.stream, filter: source.filter, from: source.start)
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
        tick()
    }

    func stop() {
        reference.owner = nil
        for follower in followers { follower.stop() }
        link.close()
    }

    /// What happened to the connection.
    func link(_ event: NATSLink.Event) {
        switch event {
        case .disconnected(let error), .closed(let error): output.engine(isConnected: false, why: error.description)
        case .reconnected: output.engine(isConnected: true, why: nil)
        case .lameDuck, .fault: break
        }
    }

    private var now: Timestamp { SystemClock.now.wall + clockOffset }

    /// On servers before 2.11 nothing says that a lease ran out.
    private func tick() {
        for change in state.tick(now) { output.change(change) }
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
        guard missing.remove(source) != nil, missing.isEmpty else { return }
        state.engine.now = now
        output.begin(state.begin())
    }

    private func apply(_ message: StoredMessage, from source: Source) {
        state.engine.now = now
        switch source {
        case .hosts:
            guard let entry = KeyValueEntry(message, bucket: HostList.bucket) else { return }
            state.apply(listed: entry.key, key: entry.value.flatMap { HostList.key($0) })
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
            for event in events { output.event(event, of: state.roster[event.host]) }
        }
    }

    private func show(_ change: FleetWatchState.Change?) {
        if let change { output.change(change) }
    }
}
