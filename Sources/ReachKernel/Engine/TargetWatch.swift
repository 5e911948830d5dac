internal import ReachCore
internal import ReachLoop

/// One target that somebody watches: its addresses, its state machine, and who is told.
final class TargetWatch {
    typealias Handler = (EngineEvent) -> Void

    let target: Target
    var machine: StatusMachine
    var name = NameTracker()
    var holdTimer: TimerQueue.ID?
    var nameTimer: TimerQueue.ID?
    /// The state may be told: it was determined, or waited for long enough.
    private var hasBegun = false
    private var handlers: [(id: UInt64, handler: Handler)] = []

    init(target: Target, holdDown: HoldDown, at moment: Instant) {
        self.target = target
        machine = StatusMachine(target: target, holdDown: holdDown, at: moment)
    }

    var isWatched: Bool { !handlers.isEmpty }

    /// Adds a handler, which is told the present state at once if there is one.
    func add(_ id: UInt64, at moment: Instant, _ handler: @escaping Handler) {
        handlers.append((id, handler))
        guard hasBegun else { return }
        handler(.change(initialChange(at: moment)))
    }

    /// - Returns: Whether it was one of this target's.
    func remove(_ id: UInt64) -> Bool {
        guard let place = handlers.firstIndex(where: { $0.id == id }) else { return false }
        handlers.remove(at: place)
        return true
    }

    /// Tells everybody who was there when it happened and has not left since.
    func tell(_ event: EngineEvent) {
        if case .change = event { hasBegun = true }
        for (id, handler) in handlers where handlers.contains(where: { $0.id == id }) { handler(event) }
    }

    /// The present state, as the first thing a newcomer is told.
    private func initialChange(at moment: Instant) -> ReachabilityChange {
        ReachabilityChange(at: moment, cause: .start, aspects: [], previous: nil, state: machine.state)
    }
}
