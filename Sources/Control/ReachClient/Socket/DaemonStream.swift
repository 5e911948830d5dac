package import ReachCore

/// Joins successive connections to a daemon into one stream: decides which events to emit, when to reconnect, and when
/// an unconfirmed state becomes unknown. Feed it events and losses in order.
package struct DaemonStream: Sendable {
    private enum Phase: Hashable, Sendable {
        /// No state has arrived, and no connection has failed.
        case new
        /// The connection is open and has delivered a state.
        case live
        /// The daemon does not answer.
        case away(since: Instant)
    }

    /// The time for which the last state remains, marked stale, as in an engine that cannot observe the kernel. Then
    /// the state is unknown. A daemon that restarts is back sooner.
    package static let stalePatience: Duration = .seconds(10)
    /// The time within which a daemon that accepts a connection must send its first state. Resolving a name takes less.
    package static let answerPatience: Duration = .seconds(5)

    private var series: ChangeSeries
    private var phase = Phase.new
    /// The delays between attempts. An attempt without a daemon costs this process one wake-up.
    private var backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))
    /// The time to call ``expire(at:)``, unless the daemon is back sooner.
    package private(set) var deadline: BootTime?

    /// Whether the open connection has delivered a state.
    package var isLive: Bool { phase == .live }

    package init(of target: Target) { series = ChangeSeries(of: target) }

    /// Handles an event of the open connection.
    package mutating func handle(_ event: StreamEvent) -> [StreamEvent] {
        switch event {
        case .snapshot(let change, _), .target(.change(let change)):
            let moment = Instant(wall: change.time, boot: change.bootTime)
            guard phase == .live else { return begin(change, at: moment) }
            if !change.isInitial { return [.target(.change(series.append(change)))] }
            let difference = series.catchUp(to: change.state, at: moment)
            let current = ReachabilityChange(
                at: moment, cause: .resync, aspects: [], previous: nil, state: series.state ?? change.state)
            return [.snapshot(current, difference: difference)]
        // Before the first state, other events refer to nothing.
        default: return phase == .live ? [event] : []
        }
    }

    /// Handles a connection that ended or failed.
    ///
    /// - Returns: The events to emit, and the delay before the next attempt.
    package mutating func handleLoss(
        _ error: ControlError, at moment: Instant
    ) -> (events: [StreamEvent], wait: Duration) {
        defer { if case .away = phase {} else { phase = .away(since: moment) } }
        switch phase {
        case .away: return ([], backoff.wait())
        case .new:
            let events = series.becomeUnknown(at: moment).map { [StreamEvent.unavailable(error, $0)] } ?? []
            return (events, backoff.wait())
        case .live:
            series.becomeStale()
            deadline = moment.boot + Self.stalePatience
            let events = series.state.map { [StreamEvent.disconnected(moment, error, $0)] } ?? []
            return (events, backoff.wait())
        }
    }

    /// Gives up the stale state when the deadline has passed.
    package mutating func expire(at moment: Instant) -> [StreamEvent] {
        guard let deadline, deadline <= moment.boot else { return [] }
        self.deadline = nil
        return series.becomeUnknown(at: moment).map { [.target(.change($0))] } ?? []
    }

    /// Handles the first state of a connection.
    private mutating func begin(_ change: ReachabilityChange, at moment: Instant) -> [StreamEvent] {
        var events: [StreamEvent] = []
        let difference = series.begin(change, cause: .resync)
        if case .away(let since) = phase, let state = series.state {
            events.append(.reconnected(moment, away: moment.boot - since.boot, state))
        }
        phase = .live
        deadline = nil
        backoff.reset()
        if let difference { events.append(.target(.change(difference))) }
        return events
    }
}
