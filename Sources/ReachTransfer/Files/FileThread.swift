internal import ReachLoop
internal import Synchronization

/// Runs work on files, which may block on a disk, in order, on a thread that ends when there is nothing to do.
package final class FileThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    package init() {}

    package func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { BackgroundThread.start(named: "reach-files") { self.work() } }
    }

    private func work() {
        while let next = next() { next() }
    }

    private func next() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
