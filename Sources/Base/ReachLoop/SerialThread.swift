internal import Synchronization

/// Runs work that would hold up a loop, in order, on one thread. The thread ends when there is nothing to do, unless it
/// lasts.
package final class SerialThread: Sendable {
    /// What the thread keeps. It does not keep its owner, so that a lasting thread ends with that.
    private final class Core: Sendable {
        private struct State {
            var waiting: [@Sendable () -> Void] = []
            var isWorking = false
            var hasThread = false
            var hasEnded = false
        }

        private let state = Mutex(State())
        /// Wakes a thread that lasts; `nil` for one that ends.
        private let signal: WorkerSignal?

        init(lasting: Bool) { signal = lasting ? try? WorkerSignal() : nil }

        /// - Returns: Whether it needs a thread, which runs ``work(mayWait:)``.
        func add(_ work: @escaping @Sendable () -> Void) -> Bool {
            let (isIdle, hasThread) = state.withLock { state in
                state.waiting.append(work)
                defer { (state.isWorking, state.hasThread) = (true, true) }
                return (!state.isWorking, state.hasThread)
            }
            if isIdle, hasThread { signal?.signal() }
            return !hasThread
        }

        func end() {
            state.withLock { $0.hasEnded = true }
            signal?.signal()
        }

        /// - Parameter mayWait: Whether the calling thread may wait for more work.
        func work(mayWait: Bool) {
            let lasts = mayWait && signal != nil
            while true {
                while let next = next(lasts: lasts) { next() }
                guard lasts, !state.withLock({ $0.hasEnded }) else { return }
                signal?.wait()
            }
        }

        private func next(lasts: Bool) -> (@Sendable () -> Void)? {
            state.withLock { state in
                guard !state.waiting.isEmpty else {
                    (state.isWorking, state.hasThread) = (false, lasts)
                    return nil
                }
                return state.waiting.removeFirst()
            }
        }
    }

    private let core: Core
    private let name: String

    /// - Parameters:
    ///   - name: The thread's name that ps and top show, cut after 15 bytes.
    ///   - lasting: Whether the thread, once it began, waits for more work for as long as this object lives.
    package init(named name: String, lasting: Bool = false) {
        self.name = name
        core = Core(lasting: lasting)
    }

    deinit { core.end() }

    /// A thread for work on files, which may block on a disk.
    package static var files: SerialThread { SerialThread(named: "reach-files") }

    package func run(_ work: @escaping @Sendable () -> Void) {
        guard core.add(work) else { return }
        let starts = BackgroundThread.startIfPossible(named: name) { [core] in core.work(mayWait: true) }
        // The system refuses another thread.
        if !starts { core.work(mayWait: false) }
    }
}
