internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Writes the metrics periodically to a file for node_exporter's textfile collector. Renaming replaces the file as a
/// whole.
final class MetricsFile {
    private let path: String
    private let interval: Duration
    private let loop: EventLoop
    private let loopReference = LoopReference<MetricsFile>()
    private let source: MetricsSource
    private let report: @Sendable (String) -> Void
    private var isFailing = false

    init(
        path: String, every interval: Duration, on loop: EventLoop, _ source: MetricsSource,
        report: @escaping @Sendable (String) -> Void
    ) {
        self.path = path
        self.interval = interval
        self.loop = loop
        self.source = source
        self.report = report
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    func begin() {
        source.request { [loopReference] in loopReference.owner?.write($0) }
        loop.schedule(at: SystemClock.boot + interval) { [weak self] in self?.begin() }
    }

    /// Removes the file, since old metrics would look current.
    func end() { unlink(path) }

    private func write(_ snapshot: MetricsSnapshot) {
        do throws(SystemError) {
            try Self.replace(path, with: snapshot.text())
            isFailing = false
        } catch {
            if !isFailing { report("\(error)") }
            isFailing = true
        }
    }
}

extension MetricsFile {
    /// The collector reads only *.prom, so not the new file before it is whole; and new metrics follow soon.
    static func replace(_ path: String, with text: [UInt8]) throws(SystemError) {
        try AtomicFile.replace(path, with: text, mode: 0o644, isSynced: false)
    }
}
