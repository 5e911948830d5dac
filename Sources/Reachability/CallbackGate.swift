internal import Dispatch
internal import Glibc
internal import Synchronization

/// The door that every callback of one monitor goes through, so that stopping can promise that none follows.
///
/// No lock is held while a callback runs.
final class CallbackGate: Sendable {
    /// The right to call back, until the gate is shut.
    struct Pass: Equatable, Sendable {
        fileprivate let gate: CallbackGate
        fileprivate let number: UInt64

        /// Runs `callback`, unless the gate was shut since the pass was given out.
        func perform(_ callback: () -> Void) {
            guard gate.enter(number) else { return }
            callback()
            gate.leave()
        }

        static func == (left: Pass, right: Pass) -> Bool { left.gate === right.gate && left.number == right.number }
    }

    private struct State {
        var lastPass: UInt64 = 0
        var isOpen = false
        /// The threads that run a callback at the moment.
        var inside: [pthread_t] = []
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Opens the gate for callbacks with the new pass.
    func open() -> Pass {
        let number = state.withLock { state in
            state.isOpen = true
            state.lastPass += 1
            return state.lastPass
        }
        return Pass(gate: self, number: number)
    }

    /// Lets no callback in any more, until it is opened again with another pass.
    func shut() { state.withLock { $0.isOpen = false } }

    /// Waits until those that were inside have left.
    ///
    /// Called from inside it does not wait: for itself it would wait in vain, and for another thread too if that one
    /// does the same.
    func waitUntilEmpty() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard !state.inside.isEmpty, !state.inside.contains(pthread_self()) else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiting.append(semaphore)
            return semaphore
        }
        semaphore?.wait()
    }

    /// The calling thread runs a callback of this monitor.
    var isInside: Bool { state.withLock { $0.inside.contains(pthread_self()) } }

    private func enter(_ pass: UInt64) -> Bool {
        state.withLock { state in
            guard state.isOpen, pass == state.lastPass else { return false }
            state.inside.append(pthread_self())
            return true
        }
    }

    private func leave() {
        let waiting: [DispatchSemaphore] = state.withLock { state in
            state.inside.lastIndex(of: pthread_self()).map { _ = state.inside.remove(at: $0) }
            guard state.inside.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        waiting.forEach { $0.signal() }
    }
}
