internal import Synchronization

/// Runs work that would hold up a loop, in order, on a thread that ends when there is nothing to do.
package final class SerialThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    private let name: String

    /// - Parameter name: The thread's name that ps and top show, cut after 15 bytes.
    package init(named name: String) { self.name = name }

    /// A thread for work on files, which may block on a disk.
    package static var files: SerialThread { SerialThread(named: "reach-files") }

    package func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { BackgroundThread.start(named: name) { self.work() } }
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
