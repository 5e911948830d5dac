package import ReachCore

/// Leaves a destination alone that keeps failing, and finds out carefully whether it is back.
///
/// Only failures of the destination count, never those of this machine's network.
package struct CircuitBreaker: Hashable, Sendable {
    package struct Rules: Hashable, Sendable {
        package var consecutive = 5
        /// Or this share of at least ``atLeast`` attempts within ``window``.
        package var share = 0.8
        package var atLeast = 10
        package var window: Duration = .seconds(30)
        package var openFirst: Duration = .seconds(5)
        package var openLongest: Duration = .seconds(300)
        /// A half-open breaker closes after so many successes.
        package var successesToClose = 2

        package init() {}
    }

    package enum State: Hashable, Sendable {
        case closed
        case open(until: BootTime)
        /// One attempt at a time.
        case halfOpen(successes: Int)
    }

    package private(set) var state: State = .closed
    private var consecutive = 0
    private var recent: [Sample] = []
    /// How many times it opened without having been closed in between.
    package private(set) var step = 0

    private struct Sample: Hashable, Sendable {
        let time: BootTime
        let isFailure: Bool
    }

    package init() {}

    /// One that was open when the queue was stopped.
    package init(openUntil: BootTime, step: Int) {
        state = .open(until: openUntil)
        self.step = step
    }

    /// Nothing is remembered that a new breaker would not know.
    package var isPristine: Bool { state == .closed && consecutive == 0 && step == 0 }

    package var isClosed: Bool { state == .closed }

    /// Opens half when its time is over. To ask it anything but ``state``, that need not be done.
    package mutating func advance(to now: BootTime) {
        if case .open(let until) = state, until <= now { state = .halfOpen(successes: 0) }
    }

    /// The network is another one: perhaps the fault was there.
    package mutating func epochChanged() {
        if case .open = state { state = .halfOpen(successes: 0) }
    }

    /// - Parameter running: Attempts on their way to the destination.
    package func admits(running: Int) -> Bool {
        switch state {
        case .closed: true
        case .open: false
        case .halfOpen: running == 0
        }
    }

    package mutating func succeed(at now: BootTime, _ rules: Rules) {
        consecutive = 0
        advance(to: now)
        switch state {
        case .closed: record(isFailure: false, at: now, rules)
        case .open: break
        case .halfOpen(let successes):
            if successes + 1 >= rules.successesToClose {
                self = CircuitBreaker()
            } else {
                state = .halfOpen(successes: successes + 1)
            }
        }
    }

    package mutating func fail(
        at now: BootTime, _ rules: Rules, using generator: inout some RandomNumberGenerator
    ) {
        consecutive += 1
        advance(to: now)
        switch state {
        case .closed:
            record(isFailure: true, at: now, rules)
            let failures = recent.count { $0.isFailure }
            let isMost = recent.count >= rules.atLeast && Double(failures) >= rules.share * Double(recent.count)
            if consecutive >= rules.consecutive || isMost { open(at: now, rules, using: &generator) }
        case .open: break
        case .halfOpen: open(at: now, rules, using: &generator)
        }
    }

    /// Opens at once: what the server showed was not what it must be.
    package mutating func trip(
        at now: BootTime, _ rules: Rules, using generator: inout some RandomNumberGenerator
    ) {
        open(at: now, rules, using: &generator)
    }

    /// Equal jitter: half the time for certain, the other half by chance.
    private mutating func open(at now: BootTime, _ rules: Rules, using generator: inout some RandomNumberGenerator) {
        let length = min(rules.openFirst * (1 << min(step, 16)), rules.openLongest)
        step += 1
        recent = []
        state = .open(until: now + length / 2 + length / 2 * Double.random(in: 0...1, using: &generator))
    }

    private mutating func record(isFailure: Bool, at now: BootTime, _ rules: Rules) {
        recent.removeAll { now - $0.time >= rules.window }
        // More than so many say no more.
        if recent.count >= rules.atLeast * 4 { recent.removeFirst() }
        recent.append(Sample(time: now, isFailure: isFailure))
    }
}
