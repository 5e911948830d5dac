internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

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
    /// What is known of each probe: only the turns after it are events, except that a probe may be down from the start.
    private var probes: [String: ProbeEvent.Kind] = [:]
    private var tests: [UInt64: HookTest] = [:]
    private var lastTest: UInt64 = 0

    init(on loop: EventLoop, _ settings: Configuration.Hooks, queue: QueueServiceHandler, log: Logger) {
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
        let wantsRequests = settings.events.contains { [.requestDone, .requestDead, .meteredBudget].contains($0) }
        if wantsRequests, queueSink == nil {
            queueSink = queue.watch { [unowned self] in if case .event(let event) = $0 { handle(event) } }
        } else if !wantsRequests {
            queueSink.map(queue.unwatch)
            queueSink = nil
        }
    }

    func handle(_ joined: JoinedChange, outage: OutageBook.Outage?) {
        guard filter.wants(joined.change), let runner, runner.mayHaveHooks, settings.events.contains(.change) else {
            return
        }
        runner.handle(HookEvent(joined, outage: outage))
    }

    func handle(_ event: ProbeEvent, outage: OutageBook.Outage?) {
        guard event.kind == .up || event.kind == .down else { return }
        let before = probes.updateValue(event.kind, forKey: event.report.name)
        guard event.kind == .down || before == .down, settings.events.contains(.probe), filter.wantsOthers else {
            return
        }
        if let event = HookEvent(event, outage: outage) { runner?.handle(event) }
    }

    /// Tells hooks that probes are no longer configured, so that what they were is over.
    func forget(probes names: Set<String>) {
        for name in names.sorted() {
            guard probes.removeValue(forKey: name) == .down, settings.events.contains(.probe), filter.wantsOthers else {
                continue
            }
            runner?.handle(HookEvent(removed: name, at: SystemClock.now))
        }
    }

    func stop() {
        runner?.stop()
        for test in tests.values { test.stop() }
    }

    /// Runs all hooks with a sample event, beside runs for other events.
    func test(_ event: HookEvent, reply: @escaping (HookTestReport) -> Void) {
        guard let options = settings.options else { return reply(HookTestReport(directory: nil, outcomes: [])) }
        lastTest += 1
        let number = lastTest
        tests[number] = HookTest(options, on: loop) { [unowned self] report in
            // The test is still on the stack.
            loop.afterEvents { [weak self] in self?.tests[number] = nil }
            reply(report)
        }
        tests[number]?.start(event)
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
                "more than \(RequestHookLimit.eventsPerDay) requests of user \(owner) died within a day: hooks are not run for further ones today"
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
