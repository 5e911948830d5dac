package import ReachCore

/// Opens and closes for the requests of one condition, as the paths that satisfy it come and go.
///
/// It closes at once and opens late: after a second without a loss, or longer when it flaps. After an
/// outage the first start is put off by a random time, so that a fleet does not come back all at once (4.5).
package struct PathGate: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        case closed
        /// Satisfied, but not for long enough yet.
        case settling(until: BootTime)
        /// Starts are allowed from this time on; for urgent requests from the other.
        case open(from: BootTime, urgentFrom: BootTime)
    }

    package enum Change: Hashable, Sendable {
        case closed
        /// It opened after an outage of this length; zero if there was none.
        case opened(after: Duration)
    }

    package private(set) var state: State = .closed
    /// What was missing while it was closed last; it counts until the gate is open.
    package private(set) var missing: Blocker
    /// Since when it has not been open; or since when it is open.
    package private(set) var since: BootTime
    private var gains: [BootTime] = []
    private var holdDownStep = 0
    /// Until the network is known there is no outage, and what is found first has not just come back.
    private var isUntested = true

    package init(missing: Blocker, at now: BootTime) {
        self.missing = missing
        since = now
    }

    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// When it wants to be asked again; `nil` while only an event can change it.
    package var deadline: BootTime? {
        if case .settling(let until) = state { until } else { nil }
    }

    /// The network has been unknown for too long: it counts as an outage from the beginning on.
    package mutating func giveUpWaiting() { isUntested = false }

    /// A gate made while the network is known. If the paths changed a moment ago, it settles as the others do.
    package mutating func begin(isMet: Bool, missing: Blocker, settledAt: BootTime, at now: BootTime) -> Change? {
        isUntested = false
        guard isMet else {
            self.missing = missing
            return nil
        }
        guard settledAt <= now else {
            state = .settling(until: settledAt)
            return nil
        }
        state = .open(from: now, urgentFrom: now)
        since = now
        return .opened(after: .zero)
    }

    /// Updates whether the paths satisfy the condition.
    package mutating func update(
        isMet: Bool, missing: Blocker, at now: BootTime, _ policy: QueuePolicy
    ) -> Change? {
        switch (isMet, state) {
        case (true, .closed): return gain(at: now, policy)
        case (false, .closed):
            self.missing = missing
            isUntested = false
            return nil
        case (false, .settling):
            self.missing = missing
            state = .closed
            return nil
        case (false, .open):
            if now - since >= policy.flapMemory { forgetFlaps() }
            self.missing = missing
            state = .closed
            since = now
            return .closed
        case (true, .settling), (true, .open): return nil
        }
    }

    /// Time has passed.
    package mutating func advance(
        to now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> Change? {
        guard case .settling(let until) = state, until <= now else { return nil }
        let outage = now - since
        let spread = policy.spread(after: outage)
        let share = Double.random(in: 0..<1, using: &generator)
        state = .open(from: now + spread * share, urgentFrom: now + spread * share / 10)
        since = now
        return .opened(after: outage)
    }

    /// The epoch moved while it is open: waits that are cut short end at different times in a fleet.
    package mutating func spreadAgain(
        at now: BootTime, _ policy: QueuePolicy, using generator: inout some RandomNumberGenerator
    ) -> BootTime {
        let share = Double.random(in: 0..<1, using: &generator)
        let time = now + policy.spread(after: .zero) * share
        guard case .open(let from, _) = state else { return time }
        return max(from, time)
    }

    private mutating func gain(at now: BootTime, _ policy: QueuePolicy) -> Change? {
        guard !isUntested else {
            isUntested = false
            state = .open(from: now, urgentFrom: now)
            since = now
            return .opened(after: .zero)
        }
        gains.removeAll { now - $0 >= policy.flapMemory }
        if gains.isEmpty { holdDownStep = 0 }
        gains.append(now)
        var wait = policy.gainDebounce
        if gains.count >= policy.flapCount {
            wait = min(policy.holdDownFirst * (1 << holdDownStep), policy.holdDownLongest)
            holdDownStep = min(holdDownStep + 1, 16)
        }
        if gains.count > 32 { gains.removeFirst() }
        state = .settling(until: now + wait)
        return nil
    }

    private mutating func forgetFlaps() {
        gains = []
        holdDownStep = 0
    }
}
