internal import ReachControl
internal import ReachCore

/// Turns a daemon's changes into those of a program that accepts only paths that satisfy a condition. The daemon
/// reports the kernel's own choice, so no other path counts.
struct ChoiceSeries {
    private let condition: NetworkCondition
    /// The last state that was passed on.
    private var state: ReachabilityState?

    init(_ condition: NetworkCondition) { self.condition = condition }

    /// - Returns: The event to pass on; `nil` if it makes no difference.
    mutating func apply(to event: StreamEvent) -> StreamEvent? {
        guard let change = event.change else { return event }
        let previous = state
        var accepted = change.state.choosing(where: condition)
        var aspects: [ReachabilityChange.Aspect] = []
        if let previous {
            aspects = StatusMachine.differences(from: previous, to: accepted)
            if accepted.status == previous.status { accepted.since = previous.since }
        }
        state = accepted
        guard previous == nil || !aspects.isEmpty else { return nil }
        let chosen = ReachabilityChange(
            at: Instant(wall: change.time, boot: change.bootTime), cause: change.cause, aspects: aspects,
            previous: previous, state: accepted)
        return .target(.change(chosen))
    }
}
