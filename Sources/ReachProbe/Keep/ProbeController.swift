package import ReachCore
package import ReachLoop

/// All configured probes, on an event loop's thread: starts each when it is due and when it is its turn, and tells what is
/// new. Nothing of it blocks, and with no probes it does nothing.
package final class ProbeController {
    let loop: EventLoop
    let surroundings: ProbeEnvironment
    private var tasks: [String: ProbeTask] = [:]
    /// As they stand in the configuration.
    private var order: [String] = []
    private var admission: ProbeAdmission<ObjectIdentifier>
    private var waiting: [ObjectIdentifier: ProbeTask] = [:]
    private let sink: (ProbeEvent) -> Void
    /// Whether each result is told, too.
    package var tellsResults = false
    /// Told of the first failure after a success, and of the first success after a failure.
    package var whenTurned: (ProbeTarget, ProbeResult) -> Void = { _, _ in }

    package init(
        loop: EventLoop, _ surroundings: ProbeEnvironment, concurrency: Int = 16,
        sink: @escaping (ProbeEvent) -> Void
    ) {
        self.loop = loop
        self.surroundings = surroundings
        self.sink = sink
        admission = ProbeAdmission(limit: concurrency)
    }

    /// So many attempts at a time.
    package var concurrency: Int {
        get { admission.limit }
        set {
            admission.limit = newValue
            admitNext()
        }
    }

    /// Takes over what is configured now. A probe of which nothing changed goes on as if nothing had happened; one that
    /// changed begins anew.
    package func take(_ specifications: [ProbeSpecification]) {
        let now = SystemClock.now
        let wanted = Dictionary(specifications.map { ($0.name, $0) }) { first, _ in first }
        for (name, task) in tasks where wanted[name] != task.specification {
            tasks[name] = nil
            task.end()
        }
        order = specifications.map(\.name)
        for specification in specifications where tasks[specification.name] == nil {
            let task = ProbeTask(specification, of: self, at: now)
            tasks[specification.name] = task
            task.begin()
        }
    }

    /// Ends all of them.
    package func stop() {
        let ended = tasks
        tasks = [:]
        order = []
        ended.values.forEach { $0.end() }
    }

    package var count: Int { tasks.count }

    /// In the order of the configuration.
    package func reports(at moment: Instant) -> [ProbeReport] {
        order.compactMap { tasks[$0]?.report(at: moment) }
    }

    package func specification(named name: String) -> ProbeSpecification? { tasks[name]?.specification }

    /// What is known of each, for metrics. The histograms are shared with the probes until these add to them.
    package func entries() -> [Entry] {
        order.compactMap { name in tasks[name].map { Entry(record: $0.record, skipped: $0.schedule.skipped) } }
    }

    package struct Entry: Sendable {
        package let record: ProbeRecord
        /// Ticks that came while an attempt was still running.
        package let skipped: UInt64
    }

    // MARK: - Turns

    func ask(_ task: ProbeTask) {
        let id = ObjectIdentifier(task)
        if admission.ask(id) { task.go() } else { waiting[id] = task }
    }

    func leave(_ task: ProbeTask) {
        let id = ObjectIdentifier(task)
        waiting[id] = nil
        admission.leave(id)
        admitNext()
    }

    private func admitNext() {
        while let id = admission.next() {
            guard let task = waiting.removeValue(forKey: id) else {
                admission.leave(id)
                continue
            }
            task.go()
        }
    }

    func tell(_ kind: ProbeEvent.Kind, _ task: ProbeTask, at moment: Instant) {
        guard kind != .result || tellsResults else { return }
        sink(ProbeEvent(kind, at: moment, report: task.report(at: moment)))
    }
}
