/// The numbers by which the queue decides.
package struct QueuePolicy: Hashable, Sendable {
    /// When a path counts as up, and as lost.
    package struct Paths: Hashable, Sendable {
        /// How long a condition must be satisfied before a canary starts: a path that goes within a moment starts
        /// nothing.
        package var settling: Duration = .milliseconds(200)
        /// How long the network may be unknown after the start before that counts as an outage.
        package var firstLook: Duration = .seconds(5)
        /// How long a running attempt outlives its path: a roaming gap and the renewal of a lease take less.
        package var linger: Duration = .seconds(2)
        /// The longest wait after an attempt that the path's loss cut off when the server may have received it. It
        /// doubles from ``Canaries/first``, as curl's, and no change of the network cuts it.
        package var lossLongest: Duration = .seconds(600)
        /// How long the check of a path after a failure is waited for, and for how long one answer serves all failures.
        /// Who checks decides how long that may take by the path's round trips, and always answers.
        package var checkLimit: Duration = .seconds(35)
        package var checkLifetime: Duration = .seconds(5)
    }

    /// The requests that try a path first.
    package struct Canaries: Hashable, Sendable {
        /// The wait after a canary that is not answered, doubling up to the longest; curl waits the same between its
        /// retries.
        package var first: Duration = .seconds(1)
        package var longest: Duration = .seconds(30)
        /// For how long after the path's loss the failures of its canaries count.
        package var memory: Duration = .seconds(60)
        /// Requests with no more bytes than this are canaries first, and begin however short a path is known to stay.
        package var smallBytes: Int64 = 64 << 10
    }

    /// A path that was up ``count`` times within ``memory`` comes and goes, and a body that is too long for its times
    /// waits; at most for ``patience``.
    package struct Windows: Hashable, Sendable {
        package var count = 3
        package var memory: Duration = .seconds(600)
        package var patience: Duration = .seconds(600)
    }

    package struct Retries: Hashable, Sendable {
        package var base: Duration = .seconds(1)
        package var longest: Duration = .seconds(300)
        /// Full jitter may draw nearly nothing.
        package var floor: Duration = .milliseconds(250)
        /// The exponent's bound: 2^9 s is more than ``longest``.
        package var exponentLimit = 9
        /// The longest wait that a server can ask for; a tenth may come on top, as for shorter ones. Quotas are for a
        /// day.
        package var afterLongest: Duration = .seconds(86_400)
        /// While the clock is not set, certificates cannot be judged.
        package var clock: Duration = .seconds(30)
        /// While the disk has no room for an answer.
        package var disk: Duration = .seconds(30)
    }

    /// How many attempts there may be at the same time: in all, to one destination, by one link, by a modem.
    package struct Slots: Hashable, Sendable {
        package var all = 16
        package var destination = 4
        package var interface = 8
        package var modem = 2
    }

    /// How users share the slots.
    package struct Shares: Hashable, Sendable {
        /// How long a user who has less than others waits for a slot before an attempt of one who has more makes room.
        /// Most attempts end sooner by themselves.
        package var grace: Duration = .seconds(5)
        /// How long an attempt keeps the only slot of its user while a user without any waits: with more users than
        /// slots they take turns of this length.
        package var slice: Duration = .seconds(60)
        /// For how long after that the last free slot is kept from whoever has half of all.
        package var memory: Duration = .seconds(60)
    }

    /// How fast attempts start.
    package struct Starts: Hashable, Sendable {
        /// Between two starts after an outage, and between two to a destination that is being approached again.
        package var spacing: Duration = .milliseconds(25)
        package var destinationSpacing: Duration = .milliseconds(100)
        /// The share of an outage over which a fleet spreads its first starts, and its bounds.
        package var spreadShare = 0.1
        package var spreadShortest: Duration = .milliseconds(250)
        package var spreadLongest: Duration = .seconds(60)
    }

    /// How many requests of one user are kept that are over, their bytes with bodies and answers, and for how long.
    package struct Keeping: Hashable, Sendable {
        package var count = 1000
        package var bytes: Int64
        package var lifetime: Duration
    }

    package var paths = Paths()
    package var canaries = Canaries()
    package var windows = Windows()
    package var retries = Retries()
    /// How long a request waits that sets no limit of its own. It has to be longer than the outages that it is kept
    /// for: a provider's fault, a machine in a bag over the holidays.
    package var timeToLive: Duration = .seconds(14 * 86_400)
    package var budget = RetryBudget.Rules()
    package var breaker = CircuitBreaker.Rules()
    /// For how long a preparation holds while the request waits for a slot. After that it is prepared again, so that no
    /// old token is sent.
    package var preparationLifetime: Duration = .seconds(10)
    package var slots = Slots()
    package var shares = Shares()
    package var starts = Starts()
    package var metered = MeteredPolicy()
    package var joining = JoinPolicy()
    package var limits = QueueLimits()
    package var dead = Keeping(bytes: 64 << 20, lifetime: .seconds(7 * 86_400))
    /// Those that are done or cancelled.
    package var results = Keeping(bytes: 256 << 20, lifetime: .seconds(86_400))

    package init() {}

    /// Over which time starts are spread after an outage, and then for how long they keep their distance. Afterwards
    /// concurrency alone bounds them: a lasting distance of 25 ms would allow no more than 40 small requests a second.
    package func spread(after outage: Duration) -> Duration {
        min(max(outage * starts.spreadShare, starts.spreadShortest), starts.spreadLongest)
    }

    /// The wait after this many canaries without an answer: never less than curl's, and up to a quarter more, so that
    /// the canaries of a fleet drift apart.
    package func canaryWait(after count: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = min(canaries.first * (1 << min(max(count - 1, 0), 16)), canaries.longest)
        return wait + wait / 4 * Double.random(in: 0..<1, using: &generator)
    }

    /// The wait after this many attempts that the path's loss cut off.
    package func lossWait(after count: Int) -> Duration {
        min(canaries.first * (1 << min(max(count - 1, 0), 16)), paths.lossLongest)
    }

    /// How long to wait after a failure, by full jitter: anything from nothing to the bound that doubles with each
    /// failure, which under contention makes the fewest calls. Never less than the floor.
    ///
    /// - Parameter failures: Those before this one.
    package func retryDelay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration
    {
        let exponent = min(max(failures, 0), retries.exponentLimit)
        let bound = min(retries.base * (1 << exponent), retries.longest)
        return max(retries.floor, bound * Double.random(in: 0...1, using: &generator))
    }
}
