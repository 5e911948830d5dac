internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Waits for the disk on its own thread, while the store continues to write. What must survive a loss of power is
/// reported once the change log with it has reached the disk. One wait serves everything that was written before it
/// began.
///
/// If each write waited, every lease would wait with it, and a queue of small requests would move at the pace of the
/// disk.
final class StoreSyncer: Sendable {
    private struct State {
        var waiting: [StoreReceipt] = []
        var file: File?
        var isEnding = false
    }

    /// The change log. Closed when neither the thread nor the store uses it.
    private final class File: Sendable {
        private let descriptor: CInt
        /// The kernel says once that it lost what was written; after that all seems to be well.
        private let hasFailed = Mutex(false)

        init(_ path: String) throws(SystemError) {
            descriptor = try SystemError.check("open \(path)") {
                open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            }
        }

        deinit { close(descriptor) }

        func wait() throws(SystemError) {
            if hasFailed.withLock(\.self) { throw SystemError(call: "fdatasync", number: EIO) }
            do throws(SystemError) {
                _ = try SystemError.check("fdatasync") { fdatasync(descriptor) }
            } catch {
                hasFailed.withLock { $0 = true }
                throw error
            }
        }
    }

    private let state = Mutex(State())
    private let wakeUp: WorkerSignal

    /// - Parameters:
    ///   - deliver: Called on the syncer's thread for each that is safe, in their order.
    ///   - fail: Receives those that may not have reached the disk.
    init(
        deliver: @escaping @Sendable (StoreReceipt) -> Void,
        fail: @escaping @Sendable ([StoreReceipt], SystemError) -> Void
    ) throws(SystemError) {
        wakeUp = try WorkerSignal()
        BackgroundThread.start(named: "reach-queue-syn") { [self] in
            var last = BootTime(nanoseconds: 0)
            while let (receipts, file) = next(lastSync: last) {
                last = SystemClock.boot
                do throws(SystemError) {
                    try file?.wait()
                    receipts.forEach(deliver)
                } catch {
                    fail(receipts, error)
                }
            }
            wakeUp.markFinished()
        }
    }

    /// From now on this change log is waited for.
    func follow(_ path: String) throws(SystemError) {
        let file = try File(path)
        state.withLock { $0.file = file }
    }

    func put(_ receipts: [StoreReceipt]) {
        let wasEmpty = state.withLock { state in
            defer { state.waiting += receipts }
            return state.waiting.isEmpty
        }
        if wasEmpty { wakeUp.signal() }
    }

    /// Ends the thread when all is on the disk.
    func end() {
        state.withLock { $0.isEnding = true }
        wakeUp.signal()
        wakeUp.waitUntilFinished()
    }

    /// One that waits alone is synced at once, several with all that come within 10 ms of the last sync, or when there
    /// are 64: while the disk is busy with the log, writing to it is slow.
    private static let interval: Duration = .milliseconds(10)
    private static let crowd = 64

    private func next(lastSync: BootTime) -> (receipts: [StoreReceipt], file: File?)? {
        while true {
            let (waiting, isEnding) = state.withLock { ($0.waiting.count, $0.isEnding) }
            let rest = Self.interval - (SystemClock.boot - lastSync)
            if 2..<Self.crowd ~= waiting, rest > .zero, !isEnding {
                usleep(UInt32(rest.nanoseconds / 1000))
            }
            if waiting > 0 {
                return state.withLock { state in
                    defer { state.waiting = [] }
                    return (state.waiting, state.file)
                }
            }
            if isEnding { return nil }
            wakeUp.wait()
        }
    }
}
