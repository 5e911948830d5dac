internal import ReachCore

/// Whether a tunnel receives while no link that is known to carry it works: then something else carries it, such as a
/// serial line or USB. The kernel has no notice of packets, so that is looked at again, ever more seldom.
struct TunnelReception {
    /// When to look next.
    private(set) var next: BootTime
    private var wait = TunnelReception.shortest
    /// The packets received so far; `nil` until the first look. What was on its way when the link broke has arrived by
    /// then.
    private var received: UInt64?

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    init(at now: BootTime) { next = now + Self.shortest }

    /// Compares the packets received so far with those of the last look.
    ///
    /// - Parameter count: Returns them; `nil` if the kernel does not say. Called only if it is time.
    /// - Returns: Whether there are more.
    mutating func hasReceived(at now: BootTime, _ count: () -> UInt64?) -> Bool {
        guard now >= next else { return false }
        let current = count()
        defer { received = current }
        if let received, let current, current > received { return true }
        next = now + wait
        wait = min(wait * 2, Self.longest)
        return false
    }
}
