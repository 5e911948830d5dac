internal import Dispatch
internal import Synchronization

/// Runs work items one at a time, in order, where the user wants to be called.
///
/// Appending and starting are separate steps, so that items can be appended under a lock, which fixes their order.
package final class SerialPump: Sendable {
    package typealias Work = @Sendable () -> Void

    private enum Place {
        case queue(DispatchQueue)
        case executor(any TaskExecutor)
        case engine
    }

    private struct State {
        var pending: [Work] = []
        var isPumping = false
    }

    private let place: Place
    private let state = Mutex(State())

    package init(_ delivery: ReachabilityDelivery) {
        place =
            switch delivery {
            case .privateQueue: .queue(DispatchQueue(label: "reachability.delivery"))
            case .queue(let queue): .queue(queue)
            case .taskExecutor(let executor): .executor(executor)
            case .immediate: .engine
            }
    }

    package func append(_ work: @escaping Work) { state.withLock { $0.pending.append(work) } }

    /// Starts to run the appended items.
    ///
    /// - Parameter onEngine: Runs work on the engine's thread; returns `false` if that has ended.
    /// - Returns: `false` if the engine's thread has ended, so that the items wait for another start.
    package func start(onEngine: (@escaping Work) -> Bool) -> Bool {
        let isIdle = state.withLock { state in
            guard !state.isPumping, !state.pending.isEmpty else { return false }
            state.isPumping = true
            return true
        }
        guard isIdle else { return true }
        switch place {
        case .queue(let queue): queue.async { self.run() }
        case .executor(let executor): Task(executorPreference: executor) { self.run() }
        case .engine:
            guard onEngine({ self.run() }) else {
                state.withLock { $0.isPumping = false }
                return false
            }
        }
        return true
    }

    private func run() {
        while var batch = next() {
            // Each is released once it has run: what it keeps may be the last reference.
            while let work = batch.popLast() { work() }
        }
    }

    /// All items that were appended since, the first of them last; `nil`, and the end of pumping, without any.
    private func next() -> [Work]? {
        state.withLock { state in
            guard !state.pending.isEmpty else {
                state.isPumping = false
                return nil
            }
            defer { state.pending = [] }
            return state.pending.reversed()
        }
    }
}
