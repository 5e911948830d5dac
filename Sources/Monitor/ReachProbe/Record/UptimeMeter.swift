package import ReachCore

/// Adds up how long each kind of result held. A result holds until the next one.
package struct UptimeMeter: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case ok
        case fail
        case paused
        case inconclusive
    }

    private var total = ProbeUptime()
    private var kind = Kind.inconclusive
    private var since: BootTime

    package init(at now: BootTime) { since = now }

    /// Adds what was measured before now.
    mutating func restore(_ earlier: ProbeUptime) {
        total.ok += earlier.ok
        total.fail += earlier.fail
        total.paused += earlier.paused
        total.inconclusive += earlier.inconclusive
    }

    /// Sets the kind that holds from now on.
    package mutating func change(to kind: Kind, at now: BootTime) {
        total = uptime(at: now)
        self.kind = kind
        since = max(since, now)
    }

    package func uptime(at now: BootTime) -> ProbeUptime {
        var total = total
        let time = max(.zero, now - since)
        switch kind {
        case .ok: total.ok += time
        case .fail: total.fail += time
        case .paused: total.paused += time
        case .inconclusive: total.inconclusive += time
        }
        return total
    }
}
