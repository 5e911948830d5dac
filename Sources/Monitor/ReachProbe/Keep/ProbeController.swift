package import ReachCore
package import ReachLoop
package import ReachRecords

/// Runs all configured probes: starts each attempt when it is due and there is room for it, and emits events. Confined
/// to the loop's thread, which it never blocks. Without probes it has no timer.
package final class ProbeController {
    let loop: EventLoop
    let environment: ProbeEnvironment
    private var tasks: [String: ProbeTask] = [:]
    /// Names in the order of the configuration.
    private var order: [String] = []
    private var admission: ProbeAdmission<ObjectIdentifier>
    private var waiting: [ObjectIdentifier: ProbeTask] = [:]
    private let sink: (ProbeEvent) -> Void
    /// The totals of an earlier run, for probes that are not configured yet. Each is used once.
    package var earlier: [ProbeTotals.Key: ProbeTotals] = [:]
    /// Whether every result is an event, and not only changes of state.
    package var emitsResults = false
    /// Whether the results are archived.
    package var isArchived = false
    /// What ended probes have left for the archive.
    private var leftovers: [Archived] = []
    /// Called with the first failure after a success, and with the first success after a failure.
    package var onTurn: (ProbeTarget, ProbeResult) -> Void = { _, _ in }
    /// Called with each answer of a host of the Internet that is named by its address, by the kernel's path.
    package var onWitness: (IPAddress.Family) -> Void = { _ in }

    package init(
        loop: EventLoop, _ environment: ProbeEnvironment, concurrency: Int = 16,
        sink: @escaping (ProbeEvent) -> Void
    ) {
        self.loop = loop
        self.environment = environment
        self.sink = sink
        admission = ProbeAdmission(limit: concurrency)
    }

    /// Most attempts that run at a time.
    package var concurrency: Int {
        get { admission.limit }
        set {
            admission.limit = newValue
            admitNext()
        }
    }

    /// Applies a configuration. Unchanged probes keep running and keep their history; changed ones start over.
    package func configure(_ specifications: [ProbeSpecification]) {
        environment.watchTogether { replace(with: specifications) }
    }

    private func replace(with specifications: [ProbeSpecification]) {
        let now = SystemClock.now
        let tolerance = StartTolerance(of: specifications)
        let wanted = Dictionary(specifications.map { ($0.name, $0) }) { first, _ in first }
        for (name, task) in tasks where wanted[name] != task.specification {
            tasks[name] = nil
            leave(task, at: now)
            task.end()
        }
        order = specifications.map(\.name)
        for specification in specifications {
            let running = tasks[specification.name]
            let task =
                running
                ?? ProbeTask(
                    specification, of: self, at: now, totals: earlier.removeValue(forKey: specification.key))
            task.tolerance = tolerance.time(for: specification)
            task.setArchived(isArchived, at: now)
            guard running == nil else { continue }
            tasks[specification.name] = task
            task.begin()
        }
    }

    /// Ends all probes.
    package func stop() {
        let ended = tasks
        tasks = [:]
        order = []
        environment.watchTogether { ended.values.forEach { $0.end() } }
    }

    /// The number of probes.
    package var count: Int { order.count }

    /// Reports in the order of the configuration, without the first `count`, and at most `limit` of them.
    package func reports(at moment: Instant, after count: Int = 0, limit: Int = .max) -> [ProbeReport] {
        order.dropFirst(count).prefix(limit).compactMap { tasks[$0]?.report(at: moment) }
    }

    package func specification(named name: String) -> ProbeSpecification? { tasks[name]?.specification }

    /// Whether a probe may be sent by the present path; `nil` if there is no such probe.
    package func gate(of name: String) -> ProbeGate? { tasks[name]?.gate }

    /// Whether an attempt of a probe now costs money, or may; `nil` if there is no such probe.
    package func mayBeMetered(_ name: String) -> Bool? { tasks[name]?.mayBeMetered }

    /// The record of each probe, for metrics. Their histograms share memory with the probes' until those change.
    package func entries() -> [Entry] {
        order.compactMap { name in tasks[name].map { Entry(record: $0.record, skipped: $0.schedule.skipped) } }
    }

    /// What a later run continues with.
    package func totals(at moment: Instant) -> [(key: ProbeTotals.Key, totals: ProbeTotals)] {
        order.compactMap { name in tasks[name].map { ($0.specification.key, $0.record.totals(at: moment)) } }
    }

    /// What the archive of a probe does not have yet.
    package struct Archived: Sendable {
        package let probe: String
        package let target: String
        package let rows: [ArchiveRow]
    }

    /// What is new for the archives since the last call.
    package func drainArchives(at moment: Instant) -> [Archived] {
        defer { leftovers = [] }
        for name in order { tasks[name].map { leave($0, at: moment) } }
        return leftovers
    }

    private func leave(_ task: ProbeTask, at moment: Instant) {
        let rows = task.drainArchive(at: moment)
        guard !rows.isEmpty else { return }
        let specification = task.specification
        leftovers.append(Archived(probe: specification.name, target: specification.target.description, rows: rows))
    }

    package struct Entry: Sendable {
        package let record: ProbeRecord
        /// Ticks that came while an attempt was still running.
        package let skipped: UInt64
    }

    // MARK: - What checks prove

    /// What checks have proved of each interface; `nil` without checks.
    private(set) var survey: ConnectivitySurvey?
    /// A path of one family by an interface.
    private struct FamilyPath: Hashable {
        let interface: String
        let family: IPAddress.Family
    }

    /// Since when the Internet is known not to answer over a path.
    private var troubles: [FamilyPath: BootTime] = [:]

    /// Sets what checks have proved.
    package func update(survey fresh: ConnectivitySurvey?) {
        survey = fresh
        let now = SystemClock.boot
        troubles = (fresh?.interfaces ?? [:]).reduce(into: [:]) { kept, entry in
            for family in [IPAddress.Family.ipv4, .ipv6] where entry.value[family].isTrouble {
                let path = FamilyPath(interface: entry.key, family: family)
                kept[path] = troubles[path] ?? now
            }
        }
        reconsider()
    }

    /// Since when the Internet is known not to answer over an interface in a family; `nil` while it answers, or that is
    /// not known.
    func trouble(of interface: String, _ family: IPAddress.Family) -> BootTime? {
        troubles[FamilyPath(interface: interface, family: family)]
    }

    /// A check of a path has ended, or checks have proved something else: what waited for that is decided now.
    package func reconsider() { tasks.values.forEach { $0.reconsider() } }

    // MARK: - Turns

    func request(_ task: ProbeTask) {
        let id = ObjectIdentifier(task)
        if admission.request(id) { task.startAttempt() } else { waiting[id] = task }
    }

    func release(_ task: ProbeTask) {
        let id = ObjectIdentifier(task)
        waiting[id] = nil
        admission.release(id)
        admitNext()
    }

    private func admitNext() {
        while let id = admission.next() {
            guard let task = waiting.removeValue(forKey: id) else {
                admission.release(id)
                continue
            }
            task.startAttempt()
        }
    }

    func emit(_ kind: ProbeEvent.Kind, _ task: ProbeTask, at moment: Instant) {
        guard kind != .result || emitsResults else { return }
        let began = kind == .up || kind == .down ? task.record.began : moment
        sink(ProbeEvent(kind, at: moment, since: began, report: task.report(at: moment)))
    }
}

/// The system as ``ProbeController`` uses it, so that tests can replace it. Everything is called on the loop's thread.
package struct ProbeEnvironment {
    /// Watches a target until the returned closure is called: by the paths that satisfy the condition, or without one
    /// by the kernel's own choice. The current state is the first event.
    package let watch: (Target, NetworkCondition?, @escaping (TargetEvent) -> Void) -> () -> Void
    /// Calls its argument, and begins and ends the watches that it makes and ends as one.
    package let watchTogether: (() -> Void) -> Void
    /// Starts an attempt, as ``ProbeRunner/start(_:binding:completion:)`` does.
    package let start: (ProbeTerms, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    /// Whether a check decides soon if the Internet still answers over an interface, in a family if one is given, where
    /// something failed at a time.
    package var isUnsettled: (_ interface: String, IPAddress.Family?, _ since: BootTime) -> Bool = { _, _, _ in false }
    /// The longest time that such a check takes to decide.
    package var longestCheck: () -> Duration = { .zero }
    /// The machine's identity (/etc/machine-id), which with a probe's name gives the phase of its ``ProbeGrid``.
    package let machine: String

    package init(
        machine: String,
        watch: @escaping (Target, NetworkCondition?, @escaping (TargetEvent) -> Void) -> () -> Void,
        watchTogether: @escaping (() -> Void) -> Void = { $0() },
        start:
            @escaping (ProbeTerms, ProbeGate.Binding?, @escaping (ProbeObservation) -> Void) -> any ProbeAttempt
    ) {
        self.machine = machine
        self.watch = watch
        self.watchTogether = watchTogether
        self.start = start
    }
}

extension Connectivity {
    /// Whether it is proved that the Internet does not answer.
    var isTrouble: Bool {
        switch self {
        case .limited, .portal: true
        case .unknown, .none, .full: false
        }
    }
}

extension ProbeSpecification {
    fileprivate var key: ProbeTotals.Key { ProbeTotals.Key(name: name, target: target.description) }
}
