package import ReachCore

/// Opens and closes for the requests of one condition, as the paths that satisfy it come and go.
///
/// It closes at once. When a path comes, it settles for a moment, and then one request of each user, the canary, shows
/// whether the path works. Any answer opens the gate, however often the path has come and gone before: only canaries
/// that fail make the next one wait longer. What flapping costs is starts that fail, and so it costs few.
///
/// After an outage the first start is put off by a random time, so that the hosts of a fleet do not all start at once.
package struct PathGate: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case closed
        /// Satisfied, but not for long enough: `times` are those of the canary that follows.
        case settling(until: BootTime, Times)
        /// No request has been answered since the path came.
        case canary(Times)
        case open(Times)
    }

    /// From when on requests may start.
    package struct Times: Hashable, Sendable {
        package let others: BootTime
        /// Urgent requests wait neither for the path to settle nor for the canary of others.
        package let urgent: BootTime
    }

    package enum Change: Hashable, Sendable {
        case closed(wasOpen: Bool)
        /// A path satisfies the condition. Urgent requests may start.
        case gained
        /// One request of each user may start, after an outage of this length.
        case canary(after: Duration)
        /// It opened after an outage of this length; zero if there was none.
        case opened(after: Duration)
    }

    package private(set) var state: State = .closed
    /// What was missing while it was closed last; it counts until the path has settled.
    package private(set) var missing: Blocker
    /// Since when it has not been open; or since when it is open.
    package private(set) var since: BootTime
    /// Since when a canary decides.
    package private(set) var triedSince: BootTime
    /// The canaries of each user on the path that is or was tried.
    package private(set) var canaries: [UInt32: CanaryRecord] = [:]
    private var triedPath: TriedPath?
    /// The times that chance gave since it was last open: they stay while the path flaps, since a new delay at each
    /// gain would put off the first start for as long as the path flaps.
    private var drawn: Times?
    /// When the path was lost.
    private var lostAt: BootTime
    /// Until the network is known there is no outage, and what is found first has not just come back.
    private var isUntested = true

    package init(missing: Blocker, at now: BootTime) {
        self.missing = missing
        since = now
        triedSince = now
        lostAt = now
    }

    package var isOpen: Bool { if case .open = state { true } else { false } }

    package var isClosed: Bool { state == .closed }

    /// Whether requests wait for a canary's answer, now or when the path has settled.
    package var isUnproved: Bool {
        switch state {
        case .settling, .canary: true
        case .closed, .open: false
        }
    }

    /// From when on requests of each kind may start; `nil` while they may not.
    package var times: Times? {
        switch state {
        case .closed: nil
        case .settling(_, let times), .canary(let times), .open(let times): times
        }
    }

    /// When it wants ``advance(to:isProved:)``; `nil` while only an event can change it.
    package var deadline: BootTime? { if case .settling(let until, _) = state { until } else { nil } }

    /// The network has been unknown for too long: it counts as an outage from the beginning on.
    package mutating func giveUpWaiting() { isUntested = false }

    // MARK: The path

    /// A gate made while the network is known. If the paths changed a moment ago, it settles as the others do.
    ///
    /// - Parameter other: An older gate whose path is the same. While a canary decides there, it decides here, too.
    package mutating func begin(
        on path: QueuePath?, missing: Blocker, settledAt: BootTime, like other: PathGate?, at now: BootTime
    ) -> Change? {
        isUntested = false
        guard let path else {
            self.missing = missing
            return nil
        }
        triedPath = TriedPath(path)
        if let other, other.isUnproved {
            (state, canaries, triedSince) = (other.state, other.canaries, other.triedSince)
            if case .canary = state { return .canary(after: .zero) }
            return .gained
        }
        guard settledAt <= now else {
            state = .settling(until: settledAt, Times(others: settledAt, urgent: now))
            return .gained
        }
        return open(Times(others: now, urgent: now), at: now, outage: .zero)
    }

    /// Updates whether a path satisfies the condition.
    ///
    /// - Parameter isProved: Something was answered by that path since it came.
    package mutating func update(
        path: QueuePath?, missing: Blocker, isProved: Bool, at now: BootTime, _ policy: QueuePolicy,
        using generator: inout some RandomNumberGenerator
    ) -> Change? {
        guard let path else { return lose(missing: missing, at: now) }
        let isOther = triedPath != TriedPath(path)
        triedPath = TriedPath(path)
        // What failed by another path, or long ago, says nothing about this one.
        if isOther || (isClosed && now - lostAt >= policy.canaryMemory) { canaries = [:] }
        switch state {
        case .closed: return gain(at: now, policy, using: &generator)
        case .canary(let times) where isProved: return open(times, at: now, outage: now - since)
        case .settling, .canary, .open: return nil
        }
    }

    private mutating func lose(missing: Blocker, at now: BootTime) -> Change? {
        self.missing = missing
        isUntested = false
        guard !isClosed else { return nil }
        let wasOpen = isOpen
        state = .closed
        lostAt = now
        if wasOpen { since = now }
        return .closed(wasOpen: wasOpen)
    }

    private mutating func gain(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> Change? {
        guard !isUntested else {
            isUntested = false
            return open(Times(others: now, urgent: now), at: now, outage: .zero)
        }
        let settled = now + policy.settling
        let delay = policy.spread(after: settled - lostAt) * Double.random(in: 0..<1, using: &generator)
        let times = Times(
            others: max(settled + delay, drawn?.others ?? settled), urgent: max(now + delay / 10, drawn?.urgent ?? now))
        drawn = times
        state = .settling(until: settled, times)
        return .gained
    }

    /// Time has passed.
    package mutating func advance(to now: BootTime, isProved: Bool) -> Change? {
        guard case .settling(let until, let times) = state, until <= now else { return nil }
        guard !isProved else { return open(times, at: now, outage: now - since) }
        state = .canary(times)
        triedSince = now
        return .canary(after: now - since)
    }

    /// The epoch moved while it is open: waits that are cut short end at different times in a fleet.
    package mutating func spreadAgain(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> BootTime {
        let share = Double.random(in: 0..<1, using: &generator)
        let time = now + policy.spread(after: .zero) * share
        guard case .open(let times) = state else { return time }
        return max(times.others, time)
    }

    private mutating func open(_ times: Times, at now: BootTime, outage: Duration) -> Change {
        state = .open(times)
        since = now
        canaries = [:]
        drawn = nil
        return .opened(after: outage)
    }

    // MARK: Canaries

    /// Something was answered by its path.
    package mutating func prove(at now: BootTime) -> Change? {
        switch state {
        case .settling(_, let times), .canary(let times): return open(times, at: now, outage: now - since)
        case .open: return nil
        case .closed:
            canaries = [:]
            return nil
        }
    }

    /// A request of the user's starts while nothing proves that the path works.
    package mutating func canaryStarted(
        of user: UInt32, at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        canaries[user, default: CanaryRecord(since: now)].started(at: now, policy, using: &generator)
    }

    /// It ended without an answer.
    package mutating func canaryFailed(
        of user: UInt32, at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        canaries[user]?.failed(at: now, policy, using: &generator)
    }

    /// It ended in a way that says nothing about the path: it was cancelled, or the path itself went.
    package mutating func canaryWithdrawn(of user: UInt32) { canaries[user]?.withdrawn() }

    /// The way a path is known by: on another network nothing holds that was found on this one.
    private struct TriedPath: Hashable, Sendable {
        let interfaceIndex: UInt32
        let sources: Set<IPAddress>

        init(_ path: QueuePath) { (interfaceIndex, sources) = (path.interfaceIndex, path.sources) }
    }
}

/// When one user's next canary may start: each user has canaries of their own, since a dead server must delay only
/// those who send to it.
package struct CanaryRecord: Hashable, Sendable {
    /// Those that were started and not answered.
    package private(set) var count = 0
    package private(set) var failures = 0
    /// When the first of them started.
    package private(set) var since: BootTime
    /// For a request to a destination that was not tried among them: a slow answer holds up the others only this long.
    private var nextElsewhere = BootTime(nanoseconds: .min)
    private var next = BootTime(nanoseconds: .min)
    private var nextUrgent = BootTime(nanoseconds: .min)

    init(since: BootTime) { self.since = since }

    /// When the next canary may start.
    ///
    /// - Parameter lastStart: When a request was last sent to the same destination.
    package func next(lastStart: BootTime) -> BootTime { lastStart < since ? nextElsewhere : next }

    /// When the next urgent request may start: only failures hold it up.
    package var urgent: BootTime { nextUrgent }

    fileprivate mutating func started(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        if count == 0 { since = now }
        count += 1
        nextElsewhere = now + policy.canaryFirst
        next = now + policy.canaryWait(after: count, using: &generator)
    }

    fileprivate mutating func failed(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        failures += 1
        next = max(next, now + policy.canaryWait(after: count, using: &generator))
        nextUrgent = next
    }

    fileprivate mutating func withdrawn() { count = max(0, count - 1) }
}
