internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import Synchronization

/// Waits for the disk on its own thread, while the store continues to write. What must survive a loss of power is
/// reported once SQLite's log with it has reached the disk. One wait serves everything that was written before it
/// began.
///
/// SQLite could wait by itself (`synchronous = FULL`), but then every lease would wait with it, and a queue of small
/// requests would move at the pace of the disk.
final class StoreSyncer: Sendable {
    private struct State {
        var waiting: [StoreReceipt] = []
        var log: CInt = -1
        var isEnding = false
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
            while let (receipts, log) = next(lastSync: last) {
                last = SystemClock.boot
                if fdatasync(log) == 0 {
                    receipts.forEach(deliver)
                } else {
                    fail(receipts, SystemError(call: "fdatasync"))
                }
            }
            wakeUp.markFinished()
        }
    }

    deinit {
        state.withLock { if $0.log >= 0 { close($0.log) } }
    }

    /// From now on this file is waited for. Not while anything is waiting.
    func follow(_ path: String) throws(SystemError) {
        let log = try SystemError.check("open \(path)") { open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) }
        let old = state.withLock { state in
            defer { state.log = log }
            return state.log
        }
        // SQLite holds no locks on this file, so that closing a descriptor of it takes none away.
        if old >= 0 { close(old) }
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

    /// The first is synced at once, the next with all that come within 10 ms, or when there are 64: while the disk is
    /// busy with the log, writing to it is slow.
    private static let interval: Duration = .milliseconds(10)
    private static let crowd = 64

    private func next(lastSync: BootTime) -> (receipts: [StoreReceipt], log: CInt)? {
        while true {
            let (waiting, isEnding) = state.withLock { ($0.waiting.count, $0.isEnding) }
            let rest = Self.interval - (SystemClock.boot - lastSync)
            if 1..<Self.crowd ~= waiting, rest > .zero, !isEnding {
                usleep(UInt32(rest.nanoseconds / 1000))
            }
            if waiting > 0 {
                return state.withLock { state in
                    defer { state.waiting = [] }
                    return (state.waiting, state.log)
                }
            }
            if isEnding { return nil }
            wakeUp.wait()
        }
    }
}
