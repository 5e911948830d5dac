internal import Glibc
internal import Logging
internal import ReachControl
package import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachRecords

/// Chooses the daemon's events that hooks are run for. Confined to the loop's thread.
final class DaemonHooks {
    private let loop: EventLoop
    private let queue: QueueServiceHandler
    private let log: Logger
    private var settings: Configuration.Hooks
    private var runner: HookRunner?
    private var queueSink: UInt64?
    private var filter: HookFilter
    private var limit = RequestHookLimit()
    private var probes: ProbeTurns
    private var tests = NumberedTable<HookTest>()

    /// - Parameter down: The targets that were down when an earlier run ended, by their names in the history.
    init(
        on loop: EventLoop, _ settings: Configuration.Hooks, queue: QueueServiceHandler, down: Set<String> = [],
        log: Logger
    ) {
        probes = ProbeTurns(down: down)
        self.loop = loop
        self.queue = queue
        self.log = log
        self.settings = settings
        filter = HookFilter(settings.condition)
        apply(settings)
    }

    /// Uses these settings for later events.
    func apply(_ fresh: Configuration.Hooks) {
        settings = fresh
        filter.condition = fresh.condition
        if let options = fresh.options {
            if runner == nil {
                runner = HookRunner(on: loop, options) { [log] in log.log(level: $0.level, "\($0.text)") }
            }
            runner?.options = options
        }
        let wantsRequests = settings.events.contains(where: \.isOfQueue)
        if wantsRequests, queueSink == nil {
            queueSink = queue.watch { [unowned self] in if case .event(let event) = $0 { handle(event) } }
        } else if !wantsRequests {
            queueSink.map(queue.unwatch)
            queueSink = nil
        }
    }

    func handle(_ joined: JoinedChange, outage: OutageBook.Outage?, works: Bool?) {
        guard filter.wants(joined.change), let runner, runner.mayHaveHooks, settings.events.contains(.change) else {
            return
        }
        runner.handle(HookEvent(joined, outage: outage, works: works))
    }

    func handle(_ event: ProbeEvent, outage: OutageBook.Outage?, works: Bool?) {
        guard event.kind == .up || event.kind == .down else { return }
        let isEvent = probes.turn(event.report.name, isDown: event.kind == .down)
        guard isEvent, settings.events.contains(.probe), filter.wantsOthers else { return }
        if let event = HookEvent(event, outage: outage, works: works) { runner?.handle(event) }
    }

    /// Tells hooks that probes are no longer configured, so that what they were is over.
    func forget(probes names: Set<String>) {
        for name in names.sorted() {
            guard probes.forget(name), settings.events.contains(.probe), filter.wantsOthers else { continue }
            runner?.handle(HookEvent(removed: name, at: SystemClock.now))
        }
    }

    func stop() {
        runner?.stop()
        for test in tests.values { test.stop() }
    }

    /// Runs all hooks with a sample event, beside runs for other events.
    ///
    /// - Parameter programs: Further ones, which are in no directory of hooks.
    func test(
        _ event: HookEvent, with programs: [HookRunner.Options], reply: @escaping (HookTestReport) -> Void
    ) {
        let directory = settings.options?.directory.path
        let all = [settings.options].compactMap(\.self) + programs
        guard !all.isEmpty else { return reply(HookTestReport(directory: nil, outcomes: [])) }
        let results = TestResults()
        for options in all {
            let number = tests.reserve()
            tests[number] = HookTest(options, on: loop) { [unowned self] report in
                // The test is still on the stack.
                loop.afterEvents { [weak self] in self?.tests[number] = nil }
                results.reports.append(report)
                guard results.reports.count == all.count else { return }
                let outcomes = results.reports.flatMap(\.outcomes).sorted { $0.hook < $1.hook }
                reply(HookTestReport(directory: directory, outcomes: outcomes))
            }
            tests[number]?.start(event)
        }
    }

    /// What tests that run at the same time have found so far.
    private final class TestResults {
        var reports: [HookTestReport] = []
    }

    private func handle(_ event: QueueEvent) {
        // Before the event is encoded: a queue may end thousands of requests a second.
        guard let kind = Configuration.Hooks.Event(event.kind), settings.events.contains(kind), filter.wantsOthers,
            let runner, runner.mayHaveHooks, kind != .requestDead || isAdmitted(event),
            let event = HookEvent(event)
        else { return }
        runner.handle(event, isOfRequest: event.isOfRequest)
    }

    private func isAdmitted(_ event: QueueEvent) -> Bool {
        let owner = event.owner ?? 0
        switch limit.admit(of: owner, at: event.moment.boot) {
        case .admitted: return true
        case .beginsToLeaveOut:
            log.warning(
                """
                more than \(RequestHookLimit.eventsPerDay) requests of user \(owner) died within a day: hooks are \
                not run for further ones today
                """
            )
            return false
        case .leftOut: return false
        }
    }
}

extension Configuration.Hooks {
    /// `nil` without a directory.
    fileprivate var options: HookRunner.Options? {
        let usual = ConfigurationFile.directory(isRoot: getuid() == 0, environment: SocketPath.processEnvironment)
        guard let directory = directory ?? usual.map({ $0 + "/hooks.d" }) else { return nil }
        return HookRunner.Options(directory: HookDirectory(directory), timeout: timeout)
    }
}

/// Which findings about probes are events: the beginning of an outage, also if it is the first finding, and its end. An
/// outage is one, also where the daemon was restarted meanwhile.
package struct ProbeTurns: Sendable {
    /// The probes that are down.
    private var down: Set<String>

    /// - Parameter targets: The targets that were down when an earlier run ended, by their names in the history.
    package init(down targets: Set<String> = []) { down = Set(targets.compactMap(HistoryEntry.probe(ofTarget:))) }

    /// Notes a finding, and returns whether it is an event.
    package mutating func turn(_ probe: String, isDown: Bool) -> Bool {
        isDown ? down.insert(probe).inserted : down.remove(probe) != nil
    }

    /// The probe is no longer configured; returns whether it was down.
    package mutating func forget(_ probe: String) -> Bool { down.remove(probe) != nil }
}

/// Limits the events of hooks about dead requests by their owner: hooks send mails, and any user can make requests die.
package struct RequestHookLimit: Sendable {
    /// The events of one user in a day.
    package static let eventsPerDay = 50
    private static let day: Duration = .seconds(86_400)

    private struct Account {
        let begin: BootTime
        var count = 0
    }

    private var accounts: [UInt32: Account] = [:]

    package enum Answer: Hashable, Sendable {
        case admitted
        /// The first one that is left out, until this time.
        case beginsToLeaveOut(until: BootTime)
        case leftOut
    }

    package init() {}

    /// Counts an event of a user's request. Root has no limit.
    package mutating func admit(of owner: UInt32, at now: BootTime) -> Answer {
        if owner == 0 { return .admitted }
        accounts = accounts.filter { now < $0.value.begin + Self.day }
        var account = accounts[owner] ?? Account(begin: now)
        account.count += 1
        accounts[owner] = account
        if account.count <= Self.eventsPerDay { return .admitted }
        return account.count == Self.eventsPerDay + 1 ? .beginsToLeaveOut(until: account.begin + Self.day) : .leftOut
    }
}
