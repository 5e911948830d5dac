internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachRecords

/// What the daemon records on disk of events: its history, its journal, and the bytes of metered links. What is said of
/// outages follows from what the history records, also where there is none on disk. Confined to the loop.
final class EventRecords {
    private let loop: EventLoop
    private let links: TrafficCounter.Links
    private var history: EventHistory?
    /// Whether the history's thread will be woken at the end of this turn of the loop.
    private var wakesHistory = false
    private var outages = OutageBook()
    private var traffic: TrafficCounter?
    private(set) var journal: Journal?

    init(on loop: EventLoop, links: @escaping TrafficCounter.Links) {
        (self.loop, self.links) = (loop, links)
    }

    var hasHistory: Bool { history != nil }
    /// The targets that were down when they were last observed.
    var down: Set<String> { outages.down }

    /// - Parameter outages: Those of earlier runs.
    func open(_ history: EventHistory, _ traffic: TrafficCounter, outages: OutageBook) {
        (self.history, self.traffic, self.outages) = (history, traffic, outages)
    }

    func open(_ journal: Journal) { self.journal = journal }

    /// Keeps as much as a new configuration says.
    func apply(_ configuration: Configuration) {
        // Without any entries there is no history, which only a start decides.
        if configuration.history.entries > 0 { history?.keep(entries: configuration.history.entries) }
        if !configuration.journal.events.isEmpty { journal?.apply(configuration.journalOptions) }
    }

    /// Records a state, for the history and for all that speak of outages. A thousand targets that change together wake
    /// the history's thread once.
    func record(_ state: HistoryEntry.State, at moment: Instant) {
        outages.observe(state, at: moment)
        guard let history else { return }
        history.add(state, at: moment)
        guard !wakesHistory else { return }
        wakesHistory = true
        loop.afterEvents { [weak self] in
            self?.wakesHistory = false
            self?.history?.write()
        }
    }

    func record(_ event: ProbeEvent) {
        if let state = HistoryEntry.State(event) { record(state, at: event.since) }
        journal?.record(event)
    }

    func record(_ period: QualityPeriod) { history?.record(period, at: SystemClock.now) }

    func record(_ evidence: OutageEvidence) { history?.record(evidence, at: SystemClock.now) }

    /// Records that targets of the history are no longer configured, so that what they were is over.
    func recordUnwatched(_ targets: some Sequence<String>) {
        for target in targets.sorted() {
            outages.remove(target)
            history?.recordUnwatched(target, at: SystemClock.now)
        }
    }

    /// The latest outage of a target, by the name that the history has for it.
    func latestOutage(of target: String) -> OutageBook.Outage? {
        outages.latest(of: target, at: SystemClock.now)
    }

    /// Whether a target can be used, by the name that the history has for it.
    func use(of target: String) -> OutageBook.Use { outages.use(of: target, at: SystemClock.now) }

    /// Leaves a sign of life if one is due.
    func noteAlive() { history?.noteAlive(at: SystemClock.now) }

    func sampleTraffic() { traffic?.sample(at: SystemClock.now, links) }

    /// Ends journal and history; waits for a disk that hangs for no more than a second.
    func close() {
        journal?.close(at: SystemClock.now, patience: .milliseconds(400))
        history?.close(at: SystemClock.now, patience: .milliseconds(600))
    }

    /// Samples once more. Blocks on the disk.
    func finishTraffic() { traffic?.finish(links) }
}
