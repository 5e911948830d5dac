internal import Logging
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// Runs the programs of the configuration's `[[hook]]` tables: each for one target, for its state when that is first
/// known, and after each change. Whether the target works is judged as in the history. Confined to the loop's thread.
///
/// Such a program sets what depends on a line, as the route that prefers it. So it has to run for the state at the
/// start, too: the line may have come back while no daemon ran.
final class TargetHooks {
    private struct Hook {
        let settings: Configuration.TargetHook
        let runner: HookRunner
    }

    private let loop: EventLoop
    private let records: EventRecords
    private let log: Logger
    /// The known states of the Internet and of the configured targets.
    private let states: () -> [(name: String, state: ReachabilityState)]
    private var hooks: [Hook] = []
    /// When targets are to be looked at again.
    private var due: [String: BootTime] = [:]
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in runDue() }

    init(
        on loop: EventLoop, _ records: EventRecords, log: Logger,
        states: @escaping () -> [(name: String, state: ReachabilityState)]
    ) {
        (self.loop, self.records, self.log, self.states) = (loop, records, log, states)
    }

    /// What a test of all hooks runs.
    var programs: [HookRunner.Options] { hooks.map(\.runner.options) }

    /// Runs these programs from now on, new ones at once.
    ///
    /// - Parameter timeout: How long one may run.
    func apply(_ settings: [Configuration.TargetHook], timeout: Duration) {
        let before = hooks
        hooks = settings.compactMap { settings in
            guard let program = settings.program else { return nil }
            let options = HookRunner.Options(directory: HookDirectory(program: program), timeout: timeout)
            let known = before.first { $0.settings == settings }?.runner
            known?.options = options
            return Hook(
                settings: settings,
                runner: known ?? HookRunner(on: loop, options) { [log] in log.log(level: $0.level, "\($0.text)") })
        }
        for hook in before where !settings.contains(hook.settings) { hook.runner.stop() }
        run(hooks.filter { hook in !before.contains { $0.settings == hook.settings } })
    }

    /// Runs the programs of the change's target.
    func handle(_ joined: JoinedChange, of name: String) {
        run(hooks.filter { $0.settings.target == name }, for: joined, of: name)
    }

    /// Runs the programs of a target about whose way something was proved.
    func handleProof(of name: String) { run(hooks.filter { $0.settings.target == name }) }

    func stop() { for hook in hooks { hook.runner.stop() } }

    /// Runs programs for the states of now.
    private func run(_ chosen: [Hook]) {
        guard !chosen.isEmpty else { return }
        for (name, state) in states() {
            let change = ReachabilityChange(
                at: SystemClock.now, cause: .configuration, aspects: [], previous: nil, state: state)
            run(chosen.filter { $0.settings.target == name }, for: JoinedChange(change), of: name)
        }
    }

    private func run(_ chosen: [Hook], for joined: JoinedChange, of name: String) {
        guard !chosen.isEmpty else { return }
        let (use, outage) = (records.use(of: name), records.latestOutage(of: name))
        for hook in chosen { hook.runner.handle(HookEvent(joined, outage: outage, works: use.works)) }
        due[name] = use.again
        timer.set(to: due.values.min())
    }

    private func runDue() {
        let now = SystemClock.boot
        let names = due.filter { $0.value <= now }.keys
        for name in names { due[name] = nil }
        run(hooks.filter { names.contains($0.settings.target) })
        timer.set(to: due.values.min())
    }
}
