package import ReachCore

/// How often each host may ask for a token: a value.
///
/// Each answer stores the host in the list and writes a line of the log, so a host that asks all the time would fill
/// both.
package struct EnrolmentPace: Sendable {
    package enum Verdict: Hashable, Sendable {
        case allowed
        /// Too often: it gets no token now.
        ///
        /// - isFirst: Whether it was allowed to the last time.
        case refused(isFirst: Bool)
    }

    /// A host may ask so often at once, and then once in each interval.
    private static let burst = 5
    private let interval: Duration
    /// The most hosts that are remembered besides those that asked within the last minutes.
    private static let limit = 1024

    private struct Host: Sendable {
        /// When all that it asked is paid for, an interval for each time.
        var paid: BootTime
        var isRefused = false
    }

    private var hosts: [String: Host] = [:]

    /// - Parameter life: How long tokens last. A host gets another one when a part of that is over.
    package init(life: Duration) { interval = min(.seconds(60), life / 8) }

    package mutating func ask(_ host: String, at now: BootTime) -> Verdict {
        if hosts.count > Self.limit { hosts = hosts.filter { $0.value.paid > now } }
        var entry = hosts[host] ?? Host(paid: now)
        defer { hosts[host] = entry }
        let paid = max(entry.paid, now) + interval
        guard paid <= now + interval * Self.burst else {
            defer { entry.isRefused = true }
            return .refused(isFirst: !entry.isRefused)
        }
        entry = Host(paid: paid)
        return .allowed
    }
}
