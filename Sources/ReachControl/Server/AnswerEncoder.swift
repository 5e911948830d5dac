internal import ReachLoop
internal import Synchronization

/// Encodes long answers on a thread of its own, in the order of their arrival. The thread ends when none is left.
///
/// ``CallGate`` bounds how many of each user wait here.
final class AnswerEncoder: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isRunning = false
    }

    private let state = Mutex(State())

    /// - Parameter work: Encodes an answer and delivers it. Takes milliseconds.
    func run(_ work: @escaping @Sendable () -> Void) {
        let starts = state.withLock { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { BackgroundThread.start(named: "reach-answers") { self.work() } }
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
