package import ReachCore

/// Makes one stream out of the connections to a daemon that may go away and come back: decides what is told, when to
/// connect again, and when a state that nobody confirms is given up. Feed it what happens, in order.
package struct DaemonStream: Sendable {
    private enum Phase: Hashable, Sendable {
        /// Nothing is known, and no connection has failed.
        case new
        /// The daemon tells.
        case told
        case away(since: Instant)
    }

    /// What was last known is told as stale for so long, as by the engine that cannot observe the kernel; then it is
    /// unknown. A daemon that is restarted is back before.
    package static let stalePatience: Duration = .seconds(10)
    /// A daemon that takes a connection must tell its first state after this time, which is what a name may take and more.
    package static let answerPatience: Duration = .seconds(5)

    private var series: ChangeSeries
    private var phase = Phase.new
    /// An attempt costs a daemon that is not there nothing, and this process a wake-up.
    private var backoff = Backoff(first: .milliseconds(100), longest: .seconds(5))
    /// When ``patienceEnded(at:)`` must be called, unless the daemon is back before.
    package private(set) var deadline: BootTime?

    /// The connection that is open has told a state.
    package var isTold: Bool { phase == .told }

    package init(of target: Target) { series = ChangeSeries(of: target) }

    /// The daemon has told something on the connection that is open now.
    package mutating func take(_ event: StreamEvent) -> [DaemonEvent] {
        switch event.content {
        case .snapshot(let change), .change(let change):
            guard phase == .told else { return begin(change, at: event.moment) }
            if !change.isInitial { return [.change(series.take(change))] }
            let difference = series.catchUp(to: change.state, at: event.moment)
            return [.snapshot(event.moment, series.told ?? change.state, difference: difference)]
        // Until there is a state, there is nothing that this could be about.
        case _ where phase != .told: return []
        case .resync(let reason): return [.resync(event.moment, reason: reason)]
        case .wake(let slept): return [.wake(event.moment, slept: slept)]
        case .dropped(let count): return [.dropped(event.moment, count: count)]
        case .other(let type, let json): return [.other(event.moment, type: type, json)]
        }
    }

    /// A connection ended, or could not be made.
    ///
    /// - Returns: What is told, and how long to wait before the next attempt.
    package mutating func lose(_ error: ControlError, at moment: Instant) -> (events: [DaemonEvent], wait: Duration) {
        defer { if case .away = phase {} else { phase = .away(since: moment) } }
        switch phase {
        case .away: return ([], backoff.wait())
        case .new:
            let events = series.becomeUnknown(at: moment).map { [DaemonEvent.unavailable(error, $0)] } ?? []
            return (events, backoff.wait())
        case .told:
            series.becomeStale()
            deadline = moment.boot + Self.stalePatience
            let events = series.told.map { [DaemonEvent.disconnected(moment, error, $0)] } ?? []
            return (events, backoff.wait())
        }
    }

    /// The deadline has come.
    package mutating func patienceEnded(at moment: Instant) -> [DaemonEvent] {
        guard let deadline, deadline <= moment.boot else { return [] }
        self.deadline = nil
        return series.becomeUnknown(at: moment).map { [.change($0)] } ?? []
    }

    /// The first state that a connection brings.
    private mutating func begin(_ change: ReachabilityChange, at moment: Instant) -> [DaemonEvent] {
        var events: [DaemonEvent] = []
        if case .away(let since) = phase { events.append(.reconnected(moment, away: moment.boot - since.boot)) }
        phase = .told
        deadline = nil
        backoff.reset()
        if let difference = series.begin(change, cause: .resync) { events.append(.change(difference)) }
        return events
    }
}
