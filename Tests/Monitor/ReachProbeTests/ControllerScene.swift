import ReachCore
import ReachLoop
import ReachProbe
import Testing

/// A controller on a real loop, with attempts and paths that the test makes.
final class ControllerScene {
    final class Attempt: ProbeAttempt {
        let name: String
        let burst: Int?
        let binding: ProbeGate.Binding?
        let completion: (ProbeObservation) -> Void
        var isCancelled = false

        init(
            _ specification: ProbeSpecification, _ binding: ProbeGate.Binding?,
            _ completion: @escaping (ProbeObservation) -> Void
        ) {
            name = specification.name
            burst = specification.burst
            self.binding = binding
            self.completion = completion
        }

        func cancel() { isCancelled = true }

        func end(_ ending: ProbeObservation.Ending = .answered) {
            completion(ProbeObservation(ending, started: SystemClock.now, duration: .milliseconds(1)))
        }
    }

    let loop: EventLoop
    private(set) var controller: ProbeController!
    private(set) var attempts: [Attempt] = []
    private(set) var events: [ProbeEvent] = []
    private var watchers: [Target: [Int: (TargetEvent) -> Void]] = [:]
    private var lastWatcher = 0
    /// Called with each attempt as it starts.
    var onStart: (Attempt) -> Void = { _ in }
    /// Whether a check of the path runs.
    var isUnsettled = false
    var longestCheck: Duration = .seconds(60)

    init(concurrency: Int = 16) throws {
        loop = try EventLoop()
        var environment = ProbeEnvironment(
            machine: "4c4c4544",
            watch: { [unowned self] target, _, handler in
                lastWatcher += 1
                let id = lastWatcher
                watchers[target, default: [:]][id] = handler
                return { [unowned self] in watchers[target]?[id] = nil }
            },
            start: { [unowned self] terms, binding, completion in
                let attempt = Attempt(terms.specification, binding, completion)
                attempts.append(attempt)
                loop.afterEvents { [unowned self] in onStart(attempt) }
                return attempt
            })
        environment.isUnsettled = { [unowned self] _, _, _ in isUnsettled }
        environment.longestCheck = { [unowned self] in longestCheck }
        controller = ProbeController(loop: loop, environment, concurrency: concurrency) { [unowned self] event in
            events.append(event)
        }
    }

    var watcherCount: Int { watchers.values.reduce(0) { $0 + $1.count } }

    func send(_ target: String, _ event: TargetEvent) throws {
        for handler in watchers[try Target(target)].map({ Array($0.values) }) ?? [] { handler(event) }
    }

    func send(
        _ target: String, _ status: ReachabilityStatus, by interface: String = "eth0", _ linkClass: LinkClass = .wired
    ) throws {
        try send(target, Self.state(target, status, by: interface, linkClass))
    }

    func send(_ target: String, _ state: ReachabilityState) throws {
        let change = ReachabilityChange(
            at: SystemClock.now, cause: .start, aspects: [], previous: nil, state: state)
        try send(target, .change(change))
    }

    static func state(
        _ target: String, _ status: ReachabilityStatus, by interface: String = "eth0", _ linkClass: LinkClass = .wired
    ) throws -> ReachabilityState {
        var state = ReachabilityState(target: try Target(target), since: SystemClock.now.wall)
        state.status = status
        guard status == .reachable else {
            state.reason = .noRoute
            state.ipv4 = NetworkPath(status: .notReachable, reason: .noRoute)
            return state
        }
        state.interface = interface
        state.linkClass = linkClass
        state.ipv4 = NetworkPath(status: .reachable)
        state.ipv4.interface = interface
        state.ipv4.interfaceIndex = 7
        return state
    }

    /// Runs the loop until a condition holds, for ten seconds at most.
    func run(until isDone: @escaping () -> Bool) { #expect(loop.runs(until: isDone)) }

    func run(for time: Duration) {
        loop.schedule(at: SystemClock.boot + time) { [loop] in loop.stop() }
        loop.run()
    }

    static func specification(
        _ name: String, _ target: String = "http://192.0.2.1/", every interval: Duration = .milliseconds(40)
    ) throws -> ProbeSpecification {
        var specification = ProbeSpecification(name: name, target: try ProbeTarget(target))
        specification.interval = interval
        return specification
    }
}

extension EventLoop {
    /// Runs until something is so, for ten seconds at most.
    ///
    /// - Returns: Whether it is.
    func runs(until isSo: @escaping () -> Bool) -> Bool {
        let limit = SystemClock.boot + .seconds(10)
        func check() {
            if isSo() || SystemClock.boot > limit { return stop() }
            schedule(at: SystemClock.boot + .milliseconds(1), check)
        }
        // Deferred, since a loop that is not running ignores a stop.
        afterEvents(check)
        run()
        return isSo()
    }
}
