package import ReachCore
package import ReachLoop

/// Holds the changes of lost links back for a moment, so that one that comes back is one change: see ``FlapJoiner``.
/// All others go on at once. Confined to the loop's thread.
package final class JoinedChanges {
    private struct Key: Hashable {
        let target: Target
        let name: String?
    }

    private let handler: (JoinedChange) -> Void
    /// The targets that have lost a link a moment ago.
    private var joiners: [Key: FlapJoiner] = [:]
    private lazy var timer = DeadlineTimer(on: loop) { [unowned self] in endDue() }
    /// No later than the earliest deadline.
    private var earliest: BootTime?
    private unowned let loop: EventLoop
    /// How long is waited; `nil` joins nothing.
    package var patience: FlapJoiner.Patience? {
        didSet { if patience != oldValue { endAll() } }
    }

    /// - Parameter handler: Called on the loop's thread, in the order of each target's changes.
    package init(
        on loop: EventLoop, patience: FlapJoiner.Patience? = FlapJoiner.Patience(),
        handler: @escaping (JoinedChange) -> Void
    ) {
        self.loop = loop
        self.patience = patience
        self.handler = handler
    }

    package func add(_ change: ReachabilityChange) {
        let key = Key(target: change.state.target, name: change.state.name)
        guard var joiner = joiners[key] else {
            guard let patience, let joiner = FlapJoiner(beginningWith: change, patience) else {
                return handler(JoinedChange(change))
            }
            return wait(for: joiner, key)
        }
        joiner.add(change)
        guard joiner.hasEnded else { return wait(for: joiner, key) }
        joiners[key] = nil
        if joiners.isEmpty { setTimer(to: nil) }
        handler(joiner.joined)
    }

    /// Joins the changes among the events of a stream. An event with a state of another kind ends what is held back.
    ///
    /// - Parameter others: Receives all but changes, at once.
    package func add(_ event: StreamEvent, others: (StreamEvent) -> Void) {
        if case .target(.change(let change)) = event { return add(change) }
        if event.state != nil { endAll() }
        others(event)
    }

    /// Hands over what is held back.
    package func endAll() {
        let ended = joiners.values.map(\.joined).sorted { $0.change.bootTime < $1.change.bootTime }
        joiners = [:]
        setTimer(to: nil)
        ended.forEach(handler)
    }

    private func wait(for joiner: FlapJoiner, _ key: Key) {
        joiners[key] = joiner
        // A later deadline is found when the timer fires: a thousand targets may change together.
        if earliest.map({ joiner.deadline < $0 }) ?? true { setTimer(to: joiner.deadline) }
    }

    private func endDue() {
        let now = SystemClock.boot
        let due = joiners.filter { $0.value.deadline <= now }
        for key in due.keys { joiners[key] = nil }
        setTimer(to: joiners.values.map(\.deadline).min())
        for joined in due.values.map(\.joined).sorted(by: { $0.change.bootTime < $1.change.bootTime }) {
            handler(joined)
        }
    }

    private func setTimer(to deadline: BootTime?) {
        earliest = deadline
        timer.set(to: deadline)
    }
}
