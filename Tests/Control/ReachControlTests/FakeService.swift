import ReachCore
import ReachLoop

@testable import ReachControl

/// A service that gives the answers and events that a test has set.
final class FakeService: ControlService {
    private var states: [Target: ReachabilityState] = [:]
    private var sinks: [Target: [Int: (TargetEvent) -> Void]] = [:]
    /// Status calls that the test has yet to answer, if ``answersLater`` is set.
    var openQuestions: [Reply<ReachabilityState>] = []
    var answersLater = false
    var reloadResult: Result<[String], MonitorError> = .success(["[limits]"])
    var links: [LinkReport] = []
    private(set) var reloads: [Caller] = []
    /// Whether a reload emits a change, so that a client can cause one.
    var changesOnReload = false
    private(set) var watchCount = 0
    private(set) var cancelCount = 0

    func status(of target: Target, for caller: Caller, reply: @escaping Reply<ReachabilityState>) {
        if answersLater { return openQuestions.append(reply) }
        if case .name("blind.example") = target.subject {
            return reply(.failure(.cannotObserve(reason: "netlink is gone")))
        }
        reply(.success(state(of: target)))
    }

    func watch(
        _ target: Target, for caller: Caller, sink: @escaping (TargetEvent) -> Void
    ) throws(MonitorError) -> ControlWatch {
        if case .name("blind.example") = target.subject { throw .cannotObserve(reason: "netlink is gone") }
        watchCount += 1
        let number = watchCount
        sinks[target, default: [:]][number] = sink
        return ControlWatch(
            state: { [unowned self] in target.description == "slow.example" ? states[target] : state(of: target) },
            cancel: { [unowned self] in
                cancelCount += 1
                sinks[target]?[number] = nil
            })
    }

    /// How often a search for a path began, and how often it ended.
    private(set) var searches = (begun: 0, ended: 0)

    func seekPath() -> () -> Void {
        searches.begun += 1
        return { [unowned self] in searches.ended += 1 }
    }

    var probeReports = [ProbeSample.report, ProbeSample.report]

    func probes(after: Int, limit: Int, for caller: Caller, reply: @escaping Reply<ProbePage>) {
        let rest = probeReports.dropFirst(after)
        reply(.success(ProbePage(reports: Array(rest.prefix(limit)), isLast: rest.count <= limit)))
    }

    func probe(_ order: ProbeOrder, for caller: Caller, reply: @escaping Reply<ProbeAnswer>) {
        reply(.success(ProbeAnswer(target: order.target, name: nil, result: ProbeSample.result)))
    }

    let targets: [(name: String, target: Target)] = [("office", .internet)]
    let networkNames = ["home", "hotspot"]

    func links(for caller: Caller, reply: @escaping Reply<[LinkReport]>) { reply(.success(links)) }

    func explain(_ target: Target, for caller: Caller, reply: @escaping Reply<Explanation>) {
        if case .name("blind.example") = target.subject {
            return reply(.failure(.cannotObserve(reason: "netlink is gone")))
        }
        let path = NetworkPath(status: .reachable)
        let step = Explanation.Step(.route, .good, "There is a \"route\".")
        let family = Explanation.Family(path: path, steps: [step])
        reply(
            .success(Explanation(target: target, verdict: Verdict(ipv4: path, ipv6: path), ipv4: family, ipv6: family)))
    }

    /// Numbered events of the journal, and who follows it.
    var journal: [[UInt8]] = []
    private var followers: [Int: () -> Void] = [:]
    private var followerCount = 0
    /// The callers that read the journal, with the user whose events they may read.
    private(set) var readers: [UInt32?] = []

    func journal(
        _ query: JournalQuery, of owner: UInt32?, for caller: Caller, reply: @escaping Reply<JournalSlice>
    ) {
        readers.append(owner)
        let after = query.after ?? 0
        var slice = JournalSlice(log: Self.log, next: after, current: Self.log, last: Int64(journal.count))
        slice.events = Array(journal.dropFirst(Int(after)).prefix(query.limit))
        slice.next += Int64(slice.events.count)
        slice.isComplete = slice.next >= slice.last
        reply(.success(slice))
    }

    static let log = String(repeating: "5", count: 32)

    func followJournal(_ handler: @escaping () -> Void) throws(MonitorError) -> () -> Void {
        followerCount += 1
        let number = followerCount
        followers[number] = handler
        return { [unowned self] in followers[number] = nil }
    }

    /// The number of those who follow the journal now.
    var followingCount: Int { followers.count }

    func appendToJournal(_ count: Int) {
        for _ in 0..<count {
            let event = JournalEvents.stopped(at: .second(Int64(journal.count)), boot: "b")
            journal.append(JournalLine.event(event, log: Self.log, number: Int64(journal.count) + 1))
        }
        for follower in followers.values { follower() }
    }

    func testHooks(for caller: Caller, reply: @escaping Reply<HookTestReport>) {
        let outcome = HookTestReport.Outcome(hook: "notify", isOK: true, end: "it ended", output: ["mail: accepted"])
        reply(.success(HookTestReport(directory: "/etc/reach/hooks.d", outcomes: [outcome])))
    }

    func reload(for caller: Caller, reply: @escaping Reply<[String]>) {
        reloads.append(caller)
        if changesOnReload { change() }
        reply(reloadResult)
    }

    /// Publishes a change. The epoch counts the changes, so that a reader can tell them apart.
    func change(_ target: Target = .internet) {
        let old = states[target]
        var new = old ?? .reachable(target)
        if old != nil { new.epoch += 1 }
        states[target] = new
        publish(
            .change(
                ReachabilityChange(
                    at: SystemClock.now, cause: .linkDown, aspects: [.path], previous: old, state: new)),
            about: target)
    }

    /// Makes the state stale or fresh, without an event.
    func setStale(_ isStale: Bool, _ target: Target = .internet) {
        states[target] = state(of: target)
        states[target]?.isStale = isStale
    }

    /// Makes the target unreachable without an event, as happens while no daemon runs.
    func makeUnreachable(_ target: Target = .internet) {
        states[target] = state(of: target)
        states[target]?.adopt(Verdict(.notReachable, reason: .noRoute))
    }

    func publish(_ event: TargetEvent, about target: Target = .internet) {
        for sink in (sinks[target] ?? [:]).values { sink(event) }
    }

    private func state(of target: Target) -> ReachabilityState {
        let state = states[target] ?? .reachable(target)
        states[target] = state
        return state
    }
}

extension ReachabilityState {
    static func reachable(_ target: Target) -> ReachabilityState {
        var state = ReachabilityState(target: target, since: Timestamp(nanosecondsSince1970: 1_795_230_104_002_913_000))
        state.status = .reachable
        state.linkClass = .wired
        state.interface = "eth0"
        state.ipv4 = NetworkPath(status: .reachable)
        state.ipv4.interface = "eth0"
        state.ipv4.interfaceIndex = 2
        state.ipv4.linkClass = .wired
        state.ipv4.gateway = IPAddress("192.0.2.1")
        state.ipv4.source = IPAddress("192.0.2.2")
        state.ipv4.table = 254
        state.ipv6 = NetworkPath(status: .notReachable, reason: .noRoute)
        return state
    }
}
