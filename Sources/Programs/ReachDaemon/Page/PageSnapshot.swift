internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachPage
internal import ReachRecords
internal import ReachTerminal

/// What the page shows, at one moment. Taking it on the engine's thread costs microseconds; what blocks is read on the
/// page's thread.
struct PageSnapshot: Sendable {
    var moment = SystemClock.now
    let version: String
    /// The states of the Internet and of the configured targets, with their names.
    var states: [(name: String, state: ReachabilityState)] = []
    var proofs: [String: LinkReport.Proof] = [:]
    var probes: [ProbeReport] = []
    /// `nil` without a queue.
    var queue: QueueMetrics?
    var options: ReachabilityEngine.Options
    /// `nil` without a history.
    var history: HistoryFiles?
    var archives = PageArchives()
    /// Whether the daemon ends, so that this is its last page.
    var isLast = false

    /// Reads the links from the kernel and the history from its files, and writes the page. Blocks on both.
    func html() -> [UInt8] {
        var page = MachinePage(host: MachineName.current, version: version, at: moment, zone: .system)
        page.isLast = isLast
        page.states = states
        page.probes = probes
        page.queue = queue
        page.links = (try? KernelSnapshot(options: options, wantsWireless: true).links())?.map { report in
            var report = report
            report.adopt(states.first?.state, proofs: proofs)
            return report
        }
        if let log = history.flatMap({ try? $0.read() }) {
            page.history = HistorySource(log, now: moment, boot: BootIdentity.current, isRunning: !isLast)
        }
        if let directory = history?.directory, let days = page.periods.all.first {
            page.archives = archives.shares(of: probes.map(\.name), between: days.edges, in: directory)
        }
        var generator = SystemRandomNumberGenerator()
        return page.html(nonce: HTMLPage.nonce(&generator))
    }
}
