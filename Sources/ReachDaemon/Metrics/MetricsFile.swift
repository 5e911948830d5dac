internal import Glibc
internal import ReachCore
internal import ReachLoop

/// Writes the metrics periodically to a file for node_exporter's textfile collector. Renaming replaces the file as a
/// whole.
final class MetricsFile {
    private let path: String
    private let interval: Duration
    private let loop: EventLoop
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
    }

    func begin() {
        let reference = FileReference(file: self)
        source.request { reference.file?.write($0) }
        loop.schedule(at: SystemClock.boot + interval) { [weak self] in self?.begin() }
    }

    /// Removes the file, since old metrics would look current.
    func end() { unlink(path) }

    private func write(_ snapshot: MetricsSnapshot) {
        do throws(SystemError) {
            try Self.replace(path, with: snapshot.text)
            isFailing = false
        } catch {
            if !isFailing { report("\(error)") }
            isFailing = true
        }
    }

    static func replace(_ path: String, with text: [UInt8]) throws(SystemError) {
        // The collector reads only *.prom.
        let fresh = path + ".new"
        // Whoever can write in the directory could have put a link or a FIFO there, which is neither followed nor waited for.
        unlink(fresh)
        let file = FileDescriptor(
            owning: try SystemError.check("open \(fresh)") {
                open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            })
        do throws(SystemError) {
            try FileDescriptor.write(text, to: file.rawValue)
        } catch {
            unlink(fresh)
            throw SystemError(call: "write \(fresh)", number: error.number)
        }
        guard rename(fresh, path) == 0 else { throw SystemError(call: "rename \(fresh)") }
    }
}

/// Carries a reference to the file through the engine's thread, which never uses it.
private struct FileReference: @unchecked Sendable {
    weak var file: MetricsFile?
}
