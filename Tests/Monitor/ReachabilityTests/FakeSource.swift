internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Reachability
internal import Synchronization

/// Sends verdicts of the test to monitors, through the real status machine, on the test's thread.
final class FakeSource: ChangeSource {
    private let watches = Mutex<[ObjectIdentifier: FakeWatch]>([:])
    private let verdict: Mutex<Verdict?>
    /// ``count`` after each watch that ended.
    let countsAfterEnd = EventLog<Int>()

    /// - Parameter verdict: The verdict at the start of a watch; `nil` if it is determined later.
    init(_ verdict: Verdict? = nil) { self.verdict = Mutex(verdict) }

    /// Number of watches that have begun and not ended.
    var count: Int { watches.withLock { $0.count } }

    func report(_ verdict: Verdict, cause: Cause = .poll) {
        self.verdict.withLock { $0 = verdict }
        for watch in watches.withLock({ Array($0.values) }) { watch.report(verdict, cause: cause) }
    }

    func currentState(of subject: WatchSubject, _ settings: EngineSettings) -> ReachabilityState {
        var machine = StatusMachine(target: subject.target, at: SystemClock.now)
        if let verdict = verdict.withLock({ $0 }) {
            _ = machine.observe(verdict, cause: .start, epoch: 1, at: SystemClock.now)
        }
        return machine.state
    }

    func prepare(_ subject: WatchSubject, _ settings: EngineSettings) -> any ChangeWatch {
        FakeWatch(StatusMachine(target: subject.target, holdDown: settings.holdDown, at: SystemClock.now), self)
    }

    fileprivate func add(_ watch: FakeWatch) -> Verdict? {
        watches.withLock { $0[ObjectIdentifier(watch)] = watch }
        return verdict.withLock { $0 }
    }

    fileprivate func remove(_ watch: FakeWatch) {
        let count = watches.withLock {
            $0[ObjectIdentifier(watch)] = nil
            return $0.count
        }
        countsAfterEnd.append(count)
    }
}

private final class FakeWatch: ChangeWatch {
    private struct State {
        var machine: StatusMachine
        var handler: (@Sendable (StreamEvent) -> Void)?
        var isEnded = false
    }

    private let source: FakeSource
    private let state: Mutex<State>

    init(_ machine: StatusMachine, _ source: FakeSource) {
        self.source = source
        state = Mutex(State(machine: machine))
    }

    func begin(_ handler: @escaping @Sendable (StreamEvent) -> Void) {
        let mayBegin = state.withLock { state in
            guard !state.isEnded else { return false }
            state.handler = handler
            return true
        }
        if mayBegin, let verdict = source.add(self) { report(verdict, cause: .start) }
    }

    func end() {
        state.withLock { $0.isEnded = true }
        source.remove(self)
    }

    func perform(_ work: @escaping @Sendable () -> Void) -> Bool {
        work()
        return true
    }

    /// Calls the handler even after the end, as an engine may if the call has already begun.
    func report(_ verdict: Verdict, cause: Cause) {
        let (change, handler) = state.withLock { state in
            (state.machine.observe(verdict, cause: cause, epoch: 1, at: SystemClock.now), state.handler)
        }
        if let change { handler?(.target(.change(change))) }
    }
}

extension Verdict {
    /// A path through this interface, in IPv4 only.
    static func reachable(_ interface: String, _ linkClass: LinkClass = .wired) -> Verdict {
        var path = NetworkPath(status: .reachable)
        path.interface = interface
        path.linkClass = linkClass
        return Verdict(ipv4: path, ipv6: NetworkPath(status: .notReachable, reason: .noRoute))
    }

    static let away = Verdict(.notReachable, reason: .noRoute)
}
