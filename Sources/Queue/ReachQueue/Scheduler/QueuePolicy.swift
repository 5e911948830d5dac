/// The numbers by which the queue decides.
package struct QueuePolicy: Hashable, Sendable {
    // MARK: The network

    /// How long a condition must be satisfied before a canary starts: a path that goes within a moment starts nothing.
    package var settling: Duration = .milliseconds(200)
    /// The wait after a canary that is not answered, doubling up to the longest; curl waits the same between its
    /// retries.
    package var canaryFirst: Duration = .seconds(1)
    package var canaryLongest: Duration = .seconds(30)
    /// For how long after the path's loss the failures of its canaries count.
    package var canaryMemory: Duration = .seconds(60)
    /// Requests with no more bytes than this are canaries first, and begin however short a path is known to stay.
    package var smallBytes: Int64 = 64 << 10
    /// A path that was up so many times within ``windowMemory`` comes and goes, and a body that is too long for its
    /// times waits; at most for ``windowPatience``.
    package var windowCount = 3
    package var windowMemory: Duration = .seconds(600)
    package var windowPatience: Duration = .seconds(600)
    /// The longest wait after an attempt that the path's loss cut off when the server may have received it. It doubles
    /// from ``canaryFirst``, as curl's, and no change of the network cuts it.
    package var lossLongest: Duration = .seconds(600)
    /// How long a running attempt outlives its path: a roaming gap and the renewal of a lease take less.
    package var linger: Duration = .seconds(2)
    /// How long the network may be unknown after the start before that counts as an outage.
    package var firstLook: Duration = .seconds(5)
    /// How long the check of a path after a failure may take, and for how long one answer serves all failures.
    package var evidenceLimit: Duration = .seconds(3)
    package var evidenceLifetime: Duration = .seconds(5)

    // MARK: Retries

    package var retryBase: Duration = .seconds(1)
    package var retryLongest: Duration = .seconds(300)
    /// Full jitter may draw nearly nothing.
    package var retryFloor: Duration = .milliseconds(250)
    /// The exponent's bound: 2^9 s is more than ``retryLongest``.
    package var retryExponentLimit = 9
    /// The longest wait that a server can ask for; a tenth may come on top, as for shorter ones. Quotas are for a day.
    package var retryAfterLongest: Duration = .seconds(86_400)
    /// While the clock is not set, certificates cannot be judged.
    package var clockRetry: Duration = .seconds(30)
    /// While the disk has no room for an answer.
    package var diskRetry: Duration = .seconds(30)
    /// How long a request waits that sets no limit of its own. It has to be longer than the outages that it is kept
    /// for: a provider's fault, a machine in a bag over the holidays.
    package var timeToLive: Duration = .seconds(14 * 86_400)

    // MARK: A destination that fails

    package var budget = RetryBudget.Rules()
    package var breaker = CircuitBreaker.Rules()

    // MARK: Interceptors

    /// For how long a preparation holds while the request waits for a slot. After that it is prepared again, so that no
    /// old token is sent.
    package var preparationLifetime: Duration = .seconds(10)

    // MARK: How many, how fast

    package var globalLimit = 16
    package var destinationLimit = 4
    package var interfaceLimit = 8
    package var modemLimit = 2
    /// How long a user who has less than others waits for a slot before an attempt of one who has more makes room. Most
    /// attempts end sooner by themselves.
    package var shareGrace: Duration = .seconds(5)
    /// How long an attempt keeps the only slot of its user while a user without any waits: with more users than slots
    /// they take turns of this length.
    package var shareSlice: Duration = .seconds(60)
    /// For how long after that the last free slot is kept from whoever has half of all.
    package var shareMemory: Duration = .seconds(60)
    /// Between two starts after an outage, and between two to a destination that is being approached again.
    package var startSpacing: Duration = .milliseconds(25)
    package var destinationSpacing: Duration = .milliseconds(100)
    /// The share of an outage over which a fleet spreads its first starts, and its bounds.
    package var spreadShare = 0.1
    package var spreadShortest: Duration = .milliseconds(250)
    package var spreadLongest: Duration = .seconds(60)

    // MARK: Data that costs money

    package var metered = MeteredPolicy()

    // MARK: Bodies that are joined

    package var joining = JoinPolicy()

    // MARK: Keeping

    package var limits = QueueLimits()
    /// Dead requests of one user: their number, their bytes with bodies and answers, and for how long they are kept.
    package var deadCount = 1000
    package var deadBytes: Int64 = 64 << 20
    package var deadLifetime: Duration = .seconds(7 * 86_400)
    /// Requests of one user that are done or cancelled: the same.
    package var resultCount = 1000
    package var resultBytes: Int64 = 256 << 20
    package var resultLifetime: Duration = .seconds(86_400)

    package init() {}

    /// Over which time starts are spread after an outage, and then for how long they keep their distance. Afterwards
    /// concurrency alone bounds them: a lasting distance of 25 ms would allow no more than 40 small requests a second.
    package func spread(after outage: Duration) -> Duration {
        min(max(outage * spreadShare, spreadShortest), spreadLongest)
    }

    /// The wait after this many canaries without an answer: never less than curl's, and up to a quarter more, so that
    /// the canaries of a fleet drift apart.
    package func canaryWait(after count: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let wait = min(canaryFirst * (1 << min(max(count - 1, 0), 16)), canaryLongest)
        return wait + wait / 4 * Double.random(in: 0..<1, using: &generator)
    }

    /// The wait after this many attempts that the path's loss cut off.
    package func lossWait(after count: Int) -> Duration {
        min(canaryFirst * (1 << min(max(count - 1, 0), 16)), lossLongest)
    }

    /// How long to wait after a failure, by full jitter: anything from nothing to the bound that doubles with each
    /// failure, which under contention makes the fewest calls. Never less than the floor.
    ///
    /// - Parameter failures: Those before this one.
    package func retryDelay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration
    {
        let exponent = min(max(failures, 0), retryExponentLimit)
        let bound = min(retryBase * (1 << exponent), retryLongest)
        return max(retryFloor, bound * Double.random(in: 0...1, using: &generator))
    }
}
