package import ReachCore

/// The pace of starts, and what one admission leaves to the next.
///
/// Invariant: ``next`` counts only while starts are spaced, which ends a while after an outage.
struct AdmissionState: Sendable {
    var fixed: FixedPolicy
    private var spacing: StartSpacing
    /// The earliest time of the next start while starts are spaced.
    private var next: BootTime
    /// The earliest time at which something may start that cannot now; `nil` for none.
    private(set) var retryAt: BootTime?
    /// The users whose canary waits for a free slot, and the channel of that canary.
    private var crowdedOut: [UInt32: ChannelIndex] = [:]
    /// The channel that is looked at first: they take turns.
    private var firstChannel = 0
    /// The names of the interceptors that the program has registered.
    private var interceptors: Set<String> = []
    /// The destinations whose lines wait until another request may be prepared.
    private var awaitingPreparation: Set<DestinationIndex> = []

    init(_ fixed: FixedPolicy, at now: BootTime) {
        self.fixed = fixed
        spacing = StartSpacing(at: now)
        next = now
    }

    // MARK: Pace

    /// Spaces starts for a while. The first look at a network or a host ends no outage.
    ///
    /// - Parameter first: The time of the first start.
    mutating func space(after outage: Duration, first: BootTime) {
        if outage > .zero { spacing.begin(after: outage, first: first, fixed.policy) }
    }

    mutating func wake(after slept: Duration, first: BootTime) {
        spacing.wake(after: slept, first: first, fixed.policy)
    }

    func isSpaced(at now: BootTime) -> Bool { now < spacing.until }

    /// The earliest time of the next start; `nil` if that is now.
    func pause(at now: BootTime) -> BootTime? { isSpaced(at: now) && next > now ? next : nil }

    mutating func started(at now: BootTime) { if isSpaced(at: now) { next = now + fixed.policy.starts.spacing } }

    // MARK: One admission

    mutating func begin() { retryAt = nil }

    mutating func retry(at time: BootTime) { retryAt = min(retryAt ?? time, time) }

    mutating func beginCanaries() { if !crowdedOut.isEmpty { crowdedOut = [:] } }

    mutating func crowdOut(_ user: UInt32, of channel: ChannelIndex) { crowdedOut[user] = channel }

    /// The channel in which the user's canary waits for a slot.
    func channelLacked(by user: UInt32) -> ChannelIndex? { crowdedOut[user] }

    /// A channel in the order of turns.
    func channel(_ offset: Int, of count: Int) -> ChannelIndex {
        ChannelIndex(rawValue: Int32((firstChannel + offset) % count))
    }

    mutating func served(_ channel: ChannelIndex, of count: Int) { firstChannel = (Int(channel.rawValue) + 1) % count }

    // MARK: Interceptors

    mutating func setInterceptors(_ names: Set<String>) { interceptors = names }

    /// Whether the interceptor of a request is registered, if it has one.
    func isRegistered(_ interceptor: String?) -> Bool { interceptor.map(interceptors.contains) ?? true }

    mutating func awaitPreparation(at destination: DestinationIndex) { awaitingPreparation.insert(destination) }

    /// There is room to prepare more requests.
    ///
    /// - Returns: The destinations whose lines waited for that.
    mutating func endAwaiting() -> Set<DestinationIndex> {
        if awaitingPreparation.isEmpty { return [] }
        defer { awaitingPreparation = [] }
        return awaitingPreparation
    }
}

/// Until when starts keep their distance, after the outages that have ended.
package struct StartSpacing: Hashable, Sendable {
    package private(set) var until: BootTime
    /// The outage after which starts are spaced for longest.
    private var outage: Duration = .zero

    package init(at now: BootTime) { until = now }

    /// - Parameter first: The time of the first start after the outage.
    package mutating func begin(after outage: Duration, first: BootTime, _ policy: QueuePolicy) {
        let end = first + policy.spread(after: outage)
        if end > until { (until, self.outage) = (end, outage) }
    }

    /// The machine turns out to have slept. What it slept was no outage; the rest of the outage was one.
    package mutating func wake(after slept: Duration, first: BootTime, _ policy: QueuePolicy) {
        outage = max(.zero, outage - slept)
        until = min(until, first + policy.spread(after: outage))
    }
}
