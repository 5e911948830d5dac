internal import Dispatch
internal import Glibc
internal import Synchronization

/// The gate that all callbacks of one monitor pass, so that none runs after a stop.
///
/// Callbacks run without the lock.
final class CallbackGate: Sendable {
    /// Permission to call back, valid until the gate is shut.
    struct Pass: Equatable, Sendable {
        fileprivate let gate: CallbackGate
        fileprivate let number: UInt64

        /// Runs `callback`, unless the gate was shut after the pass was issued.
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
        /// The threads that are running a callback.
        var inside: [pthread_t] = []
        var waiting: [DispatchSemaphore] = []
    }

    private let state = Mutex(State())

    /// Opens the gate, and issues the pass that is valid from now on.
    func open() -> Pass {
        let number = state.withLock { state in
            state.isOpen = true
            state.lastPass += 1
            return state.lastPass
        }
        return Pass(gate: self, number: number)
    }

    /// Shuts the gate: no further callback starts until it is opened again, with another pass.
    func shut() { state.withLock { $0.isOpen = false } }

    /// Waits until all running callbacks have returned.
    ///
    /// It does not wait when called from a callback: that would be a deadlock, since the callback would wait for
    /// itself, or two callbacks for each other.
    func waitUntilEmpty() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard !state.inside.isEmpty, !state.inside.contains(pthread_self()) else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.waiting.append(semaphore)
            return semaphore
        }
        semaphore?.wait()
    }

    /// Whether the calling thread is running a callback of this monitor.
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
