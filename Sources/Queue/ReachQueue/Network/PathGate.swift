package import ReachCore

/// Decides whether the requests of one condition may start, as the paths that satisfy the condition come and go.
///
/// When the path is lost, the gate closes at once. When there is a path again, the gate settles for
/// ``QueuePolicy/paths``; then one request of each user, the canary, shows whether the path works. Any answer opens
/// the gate, however often the path has come and gone before. Only a canary that fails makes the next one wait longer,
/// so a path that flaps costs few failed starts.
///
/// After an outage the first start is delayed by a random time, so that the hosts of a fleet do not all start at once.
/// The time that the machine slept is no outage: hosts do not wake together.
package struct PathGate: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case closed
        /// A path satisfies the condition, but not for long enough. The canary follows, with these times.
        case settling(until: BootTime, Times)
        /// No request has been answered since the path came.
        case canary(Times)
        case open(Times)
    }

    /// The earliest times at which requests may start.
    package struct Times: Hashable, Sendable {
        /// For all requests that are not urgent.
        package let others: BootTime
        /// For urgent requests, which wait neither for the path to settle nor for a canary.
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
    /// What the paths lacked when the gate was last closed. It is shown until the path has settled.
    package private(set) var missing: Blocker
    /// The time of the last change between open and not open.
    package private(set) var since: BootTime
    /// The time at which the state ``State/canary(_:)`` began.
    package private(set) var triedSince: BootTime
    /// The canaries of each user on the current or the last path.
    package private(set) var canaries: [UInt32: CanaryRecord] = [:]
    /// The current or the last path.
    private var triedPath: TriedPath?
    /// The random times drawn since the gate was last open. They are kept while the path flaps: a new delay each time
    /// that the path returns would postpone the first start for as long as the path flaps.
    private var drawn: Times?
    /// The time at which the path was lost.
    private var lostAt: BootTime
    /// For how long the machine has slept since the path was lost.
    private var asleep: Duration = .zero
    /// For how long it has slept since the gate was last open.
    private var asleepSinceOpen: Duration = .zero
    /// The share of the spread that was drawn for the first start.
    private var share = 0.0
    /// Whether the network has been unknown so far. The first path that is found then follows no outage.
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

    /// The earliest times at which requests may start; `nil` while the gate is closed.
    package var times: Times? {
        switch state {
        case .closed: nil
        case .settling(_, let times), .canary(let times), .open(let times): times
        }
    }

    /// The time at which ``advance(to:isProved:)`` must be called; `nil` for none.
    package var deadline: BootTime? { if case .settling(let until, _) = state { until } else { nil } }

    /// Counts the time since the gate was made as an outage, because the network has been unknown for too long.
    package mutating func giveUpWaiting() { isUntested = false }

    // MARK: The path

    /// Begins with the path of a new group, while the network is known.
    ///
    /// - Parameters:
    ///   - settledAt: The time at which the paths have settled after their last change.
    ///   - other: An older gate with the same path. If its path is not proved yet, this gate adopts its state.
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
            (lostAt, asleep, share, drawn) = (other.lostAt, other.asleep, other.share, other.drawn)
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
        let isNewPath = triedPath != TriedPath(path)
        triedPath = TriedPath(path)
        // Canaries that failed over another path, or long ago, prove nothing about this path.
        if isNewPath || (isClosed && now - lostAt >= policy.canaries.memory) { canaries = [:] }
        switch state {
        case .closed: return gain(at: now, policy, using: &generator)
        case .canary(let times) where isProved: return open(times, at: now, outage: outage(at: now))
        case .open where isNewPath && path.isUncertain && !isProved:
            state = .canary(Times(others: now, urgent: now))
            (since, triedSince, asleepSinceOpen) = (now, now, .zero)
            return .canary(after: .zero)
        case .settling, .canary, .open: return nil
        }
    }

    private mutating func lose(missing: Blocker, at now: BootTime) -> Change? {
        self.missing = missing
        isUntested = false
        guard !isClosed else { return nil }
        let wasOpen = isOpen
        state = .closed
        (lostAt, asleep) = (now, .zero)
        if wasOpen { (since, asleepSinceOpen) = (now, .zero) }
        return .closed(wasOpen: wasOpen)
    }

    private mutating func gain(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> Change? {
        guard !isUntested else {
            isUntested = false
            return open(Times(others: now, urgent: now), at: now, outage: .zero)
        }
        let settled = now + policy.paths.settling
        share = Double.random(in: 0..<1, using: &generator)
        let delay = delay(until: settled, policy)
        let times = Times(
            others: max(settled + delay, drawn?.others ?? settled), urgent: max(now + delay / 10, drawn?.urgent ?? now))
        drawn = times
        state = .settling(until: settled, times)
        return .gained
    }

    /// The delay of the first start on a path that has settled at this time.
    private func delay(until settled: BootTime, _ policy: QueuePolicy) -> Duration {
        policy.spread(after: max(.zero, settled - lostAt - asleep)) * share
    }

    /// For how long the gate has not been open while the machine was awake.
    private func outage(at now: BootTime) -> Duration { max(.zero, now - since - asleepSinceOpen) }

    /// The machine woke up. The path may have come back, or may have been lost, before that was known: of the sleep
    /// counts at most the time since the loss.
    package mutating func wake(after slept: Duration, at now: BootTime, _ policy: QueuePolicy) {
        guard !isOpen else { return }
        asleep = min(asleep + slept, max(.zero, now - lostAt))
        asleepSinceOpen = min(asleepSinceOpen + slept, max(.zero, now - since))
        switch state {
        case .settling(let until, let times):
            state = .settling(until: until, shortened(times, settled: until, at: now, policy))
        case .canary(let times): state = .canary(shortened(times, settled: triedSince, at: now, policy))
        case .closed, .open: break
        }
    }

    private mutating func shortened(
        _ times: Times, settled: BootTime, at now: BootTime, _ policy: QueuePolicy
    ) -> Times {
        let delay = delay(until: settled, policy)
        let latest = Times(
            others: min(times.others, settled + delay),
            urgent: min(times.urgent, max(now, settled + (delay / 10 - policy.paths.settling))))
        drawn = latest
        return latest
    }

    /// Ends the settling when its time has come.
    package mutating func advance(to now: BootTime, isProved: Bool) -> Change? {
        guard case .settling(let until, let times) = state, until <= now else { return nil }
        guard !isProved else { return open(times, at: now, outage: outage(at: now)) }
        state = .canary(times)
        triedSince = now
        return .canary(after: outage(at: now))
    }

    /// Draws the time at which waits after failures end early, because a new epoch began while the gate is open. The
    /// time is random, so that the hosts of a fleet do not all start at once.
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
        (drawn, asleep, asleepSinceOpen) = (nil, .zero, .zero)
        return .opened(after: outage)
    }

    // MARK: Canaries

    /// Opens the gate, because something was answered over its path.
    package mutating func prove(at now: BootTime) -> Change? {
        switch state {
        case .settling(_, let times), .canary(let times): return open(times, at: now, outage: outage(at: now))
        case .open: return nil
        case .closed:
            canaries = [:]
            return nil
        }
    }

    /// Records that a request of the user starts as a canary.
    package mutating func canaryStarted(
        of user: UInt32, at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        canaries[user, default: CanaryRecord(since: now)].started(at: now, policy, using: &generator)
    }

    /// Records that a canary ended without an answer.
    package mutating func canaryFailed(
        of user: UInt32, at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        canaries[user]?.failed(at: now, policy, using: &generator)
    }

    /// Records that a canary ended in a way that proves nothing about the path: it was cancelled, or the path was lost.
    package mutating func canaryWithdrawn(of user: UInt32) { canaries[user]?.withdrawn() }

    /// What identifies a path. Another interface or other addresses mean another network, for which the results of
    /// earlier canaries do not count.
    private struct TriedPath: Hashable, Sendable {
        let interfaceIndex: UInt32
        let sources: Set<IPAddress>

        init(_ path: QueuePath) { (interfaceIndex, sources) = (path.interfaceIndex, path.sources) }
    }
}

/// The canaries of one user, and when the next one may start. They are counted for each user, because a dead server
/// must delay only the users who send to it.
package struct CanaryRecord: Hashable, Sendable {
    /// The number of canaries that were started and not answered.
    package private(set) var count = 0
    /// The number of canaries that failed.
    package private(set) var failures = 0
    /// The time at which the first of them started.
    package private(set) var since: BootTime
    /// The earliest start of a canary to a destination that none of them was sent to: one slow server must not delay
    /// canaries to other servers.
    private var nextElsewhere = BootTime(nanoseconds: .min)
    private var next = BootTime(nanoseconds: .min)
    private var nextUrgent = BootTime(nanoseconds: .min)

    init(since: BootTime) { self.since = since }

    /// When the next canary may start.
    ///
    /// - Parameter lastStart: When a request was last sent to the same destination.
    package func next(lastStart: BootTime) -> BootTime { lastStart < since ? nextElsewhere : next }

    /// When the next urgent request may start: only failed canaries delay it.
    package var urgent: BootTime { nextUrgent }

    fileprivate mutating func started(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) {
        if count == 0 { since = now }
        count += 1
        nextElsewhere = now + policy.canaries.first
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
