internal import ReachCore

/// Looks, while a path does not work, whether somebody's sockets receive something by it again. Pure.
///
/// Only the moment at which traffic begins is a reason to ask the endpoints: a host that gets through all the time,
/// through a portal or a firewall, must not have them asked for ever. Checks that were brought about in vain make the
/// next ones rarer.
struct TrafficWatch {
    private(set) var ticket: ValidationCommand.Ticket?
    /// When to look next; `nil` while it need not, or an answer is awaited.
    private(set) var nextLook: BootTime?
    /// What was going on before the first look is not known, and is no beginning.
    private var sawTraffic = true
    private var hasTriggered = false
    private var notBefore: BootTime?
    private var gap: Backoff

    init(longestGap: Duration) { gap = Backoff(first: ValidationOptions.firstTriggerGap, longest: longestGap) }

    mutating func start(at now: BootTime) {
        guard nextLook == nil, ticket == nil else { return }
        nextLook = now + ValidationOptions.lookInterval
    }

    mutating func stop() {
        nextLook = nil
        ticket = nil
    }

    mutating func begin(_ ticket: ValidationCommand.Ticket) {
        self.ticket = ticket
        nextLook = nil
    }

    /// - Parameter time: How long the look took: where there are very many sockets, looks become rarer, so that they
    ///   take no more than a twentieth of a processor.
    /// - Returns: Whether to ask the endpoints now.
    mutating func end(sawTraffic: Bool, after time: Duration, at now: BootTime) -> Bool {
        ticket = nil
        nextLook = now + max(ValidationOptions.lookInterval, time * 20)
        let isBeginning = sawTraffic && !self.sawTraffic
        // Traffic that begins while it may not trigger is not forgotten, as long as it goes on.
        guard isBeginning, now < notBefore ?? now else {
            self.sawTraffic = sawTraffic
            hasTriggered = isBeginning
            return isBeginning
        }
        return false
    }

    /// Somebody was answered, and it need not be looked for.
    ///
    /// - Returns: When the endpoints may be asked for that.
    mutating func trigger(at now: BootTime) -> BootTime {
        hasTriggered = true
        return max(now, notBefore ?? now)
    }

    mutating func probeEnded(inVain: Bool, at now: BootTime) {
        defer { hasTriggered = false }
        if !inVain {
            gap.reset()
            notBefore = nil
            sawTraffic = true
        } else if hasTriggered {
            notBefore = now + gap.wait()
        }
    }
}
