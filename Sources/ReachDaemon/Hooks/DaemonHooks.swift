internal import Glibc
internal import Logging
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// Chooses the daemon's events that hooks are run for. Confined to the loop's thread.
final class DaemonHooks {
    private let loop: EventLoop
    private let queue: QueueController
    private let log: Logger
    private var settings: Configuration.Hooks
    private var runner: HookRunner?
    private var queueSink: UInt64?
    /// The state of the Internet, whose path counts for events that concern no path of their own.
    private var internet: ReachabilityState?
    /// What is known of each probe: only the turns after it are events, except that a probe may be down from the start.
    private var probes: [String: ProbeEvent.Kind] = [:]

    init(on loop: EventLoop, _ settings: Configuration.Hooks, queue: QueueController, log: Logger) {
        self.loop = loop
        self.queue = queue
        self.log = log
        self.settings = settings
        apply(settings)
    }

    /// Uses these settings for later events.
    func apply(_ fresh: Configuration.Hooks) {
        settings = fresh
        if let options = fresh.options {
            if runner == nil {
                runner = HookRunner(on: loop, options) { [log] in log.log(level: $0.level, "\($0.text)") }
            }
            runner?.options = options
        }
        let wantsRequests = settings.events.contains { $0 == .requestDone || $0 == .requestDead }
        if wantsRequests, queueSink == nil {
            queueSink = queue.watch { [unowned self] in if case .event(let event) = $0 { handle(event) } }
        } else if !wantsRequests {
            queueSink.map(queue.unwatch)
            queueSink = nil
        }
    }

    func handle(_ change: ReachabilityChange) {
        if change.state.target == .internet { internet = change.state }
        // The initial state is not an event.
        guard !change.isInitial else { return }
        let states = [change.state, change.previous].compactMap { $0 }
        // The last event of a path, its loss, concerns it too.
        guard settings.condition == .any || states.contains(where: settings.condition.holds) else { return }
        if settings.events.contains(.change) { runner?.handle(HookEvent(change)) }
    }

    func handle(_ event: ProbeEvent) {
        guard event.kind == .up || event.kind == .down else { return }
        let before = probes.updateValue(event.kind, forKey: event.report.name)
        guard event.kind == .down || before == .down, settings.events.contains(.probe), isWanted else {
            return
        }
        if let event = HookEvent(event) { runner?.handle(event) }
    }

    /// Whether the path to the Internet is one that hooks are run for.
    private var isWanted: Bool { settings.condition == .any || internet.map(settings.condition.holds) == true }

    func stop() { runner?.stop() }

    private func handle(_ event: QueueEvent) {
        // Before the event is encoded: a queue may end thousands of requests a second.
        guard let kind = Configuration.Hooks.Event(event.kind), settings.events.contains(kind), isWanted, let runner,
            let event = HookEvent(event)
        else { return }
        runner.handle(event)
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
