internal import Glibc
internal import Synchronization

/// A thread that runs an event loop and owns an object confined to it, the resident. Other threads post work to it.
///
/// The loop and the resident are created on that thread and never leave it. The thread starts with the first
/// ``post(_:)`` and stops soon after ``end()``. If the system refuses a thread, the next `post` tries again; if the
/// process is out of descriptors, the thread tries again every second. Posted work waits meanwhile.
package final class LoopThread<Resident: AnyObject>: Sendable {
    package typealias Work = @Sendable (Resident) -> Void

    private struct State {
        var hasThread = false
        var isEnded = false
        /// Work posted before the loop exists.
        var waiting: [Work] = []
        var entry: (mailbox: Mailbox, reference: ResidentReference)?
        var lastID: UInt64 = 0

        mutating func deliver(_ work: @escaping Work) {
            guard let (mailbox, reference) = entry else { return waiting.append(work) }
            mailbox.post { _ in reference.resident.map(work) }
        }
    }

    private let name: String
    private let prepare: @Sendable () -> Void
    private let makeResident: @Sendable (EventLoop) -> Resident
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: The name that ps and top show.
    ///   - prepare: Called on the thread first.
    ///   - makeResident: Creates the resident on the thread.
    package init(
        named name: String, prepare: @escaping @Sendable () -> Void = {},
        makeResident: @escaping @Sendable (EventLoop) -> Resident
    ) {
        self.name = name
        self.prepare = prepare
        self.makeResident = makeResident
    }

    /// Returns a number that it has not returned before.
    package func nextID() -> UInt64 {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    /// Runs `work` on the thread, after all work posted earlier.
    ///
    /// - Returns: `false` after ``end()``.
    @discardableResult
    package func post(_ work: @escaping Work) -> Bool {
        let (isAccepted, needsThread) = state.withLock { state in
            guard !state.isEnded else { return (false, false) }
            state.deliver(work)
            defer { state.hasThread = true }
            return (true, !state.hasThread)
        }
        if needsThread, !BackgroundThread.startIfPossible(named: name, { self.run() }) {
            state.withLock { $0.hasThread = false }
        }
        return isAccepted
    }

    /// Ends the thread after all work posted earlier; does not wait for it.
    package func end() {
        state.withLock { state in
            guard !state.isEnded else { return }
            state.isEnded = true
            guard let (mailbox, _) = state.entry else { return }
            mailbox.post { $0.stop() }
            state.entry = nil
        }
    }

    // MARK: - On the thread

    private func run() {
        prepare()
        while true {
            if let loop = try? EventLoop() { return serve(loop) }
            // Whoever waits for an answer gets it once there are descriptors again.
            if state.withLock({ $0.isEnded && $0.waiting.isEmpty }) { return }
            sleep(1)
        }
    }

    private func serve(_ loop: EventLoop) {
        let resident = makeResident(loop)
        state.withLock { state in
            let mailbox = loop.mailbox
            state.entry = (mailbox, ResidentReference(resident))
            for work in state.waiting { state.deliver(work) }
            state.waiting = []
            guard state.isEnded else { return }
            mailbox.post { $0.stop() }
            state.entry = nil
        }
        withExtendedLifetime(resident) { loop.run() }
        loop.mailbox.seal()
    }

    /// Carries the resident's reference through other threads. Only its own loop dereferences it.
    private struct ResidentReference: @unchecked Sendable {
        private(set) weak var resident: Resident?

        init(_ resident: Resident) { self.resident = resident }
    }
}
