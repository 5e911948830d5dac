internal import ReachCore

/// Decides when to sample the traffic of a path that does not work, to see whether any socket receives data again. A
/// pure value.
///
/// Only the beginning of traffic triggers a check: a host that always gets through, past a portal or a firewall, must
/// not trigger one after the other. Each check of this kind that fails delays the next.
struct TrafficWatch {
    private(set) var ticket: ValidationCommand.Ticket?
    /// When to sample next; `nil` if stopped, or while a sample is running.
    private(set) var nextSample: BootTime?
    /// Initially true: traffic in the first sample may have begun earlier, so it is not a beginning.
    private var sawTraffic = true
    private var hasTriggered = false
    private var notBefore: BootTime?
    private var interval: Backoff

    init(longestGap: Duration) { interval = Backoff(first: ValidationOptions.firstTriggerGap, longest: longestGap) }

    mutating func start(at now: BootTime) {
        guard nextSample == nil, ticket == nil else { return }
        nextSample = now + ValidationOptions.sampleInterval
    }

    mutating func stop() {
        nextSample = nil
        ticket = nil
    }

    mutating func begin(_ ticket: ValidationCommand.Ticket) {
        self.ticket = ticket
        nextSample = nil
    }

    /// Handles the result of a sample.
    ///
    /// - Parameter time: How long the sample took. With very many sockets samples become rarer, so that they take at
    ///   most a twentieth of a CPU.
    /// - Returns: Whether to check the path now.
    mutating func end(sawTraffic: Bool, after time: Duration, at now: BootTime) -> Bool {
        ticket = nil
        nextSample = now + max(ValidationOptions.sampleInterval, time * 20)
        let isBeginning = sawTraffic && !self.sawTraffic
        // Traffic that begins too early for another check triggers it later, if it lasts.
        guard isBeginning, now < notBefore ?? now else {
            self.sawTraffic = sawTraffic
            hasTriggered = isBeginning
            return isBeginning
        }
        return false
    }

    /// Notes that another request was answered, which replaces a sample.
    ///
    /// - Returns: When the path may be checked for that reason.
    mutating func trigger(at now: BootTime) -> BootTime {
        hasTriggered = true
        return max(now, notBefore ?? now)
    }

    mutating func probeEnded(isBroken: Bool, at now: BootTime) {
        defer { hasTriggered = false }
        if !isBroken {
            interval.reset()
            notBefore = nil
            sawTraffic = true
        } else if hasTriggered {
            notBefore = now + interval.wait()
        }
    }
}
