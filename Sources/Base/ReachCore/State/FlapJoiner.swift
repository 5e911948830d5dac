/// Joins the changes that a target sees while a link is lost and comes back into one, for people and for hooks. It
/// begins with the loss, and ends when all is as before, when what is different is known, or when it has waited for
/// long enough.
///
/// Programs that read every change get them as they come.
package struct FlapJoiner: Hashable, Sendable {
    package struct Patience: Hashable, Sendable {
        /// How long a lost link is waited for, counted from each loss. Gigabit Ethernet negotiates for 2 to 4 s after a
        /// cable is back; NetworkManager waits for 6 s, ifplugd for 5 s.
        package var link: Duration
        /// How long is waited in all, if the link is back in time, for its address, its route and a check.
        package var rest: Duration = .seconds(10)
        /// How long a path that works again, but differs from the one before, may change further: IPv6 comes later.
        package var settling: Duration = .seconds(1)

        package init(link: Duration = .seconds(4)) {
            self.link = link
            rest = max(rest, link)
        }
    }

    private let patience: Patience
    private let before: ReachabilityState
    private let first: ReachabilityChange
    private var last: ReachabilityChange
    /// The change with the last loss.
    private var loss: ReachabilityChange
    private var losses = 1
    /// When the path was back after the last loss; `nil` while it is lost.
    private var backAt: BootTime?
    /// Whether nothing is waited for any more.
    package private(set) var hasEnded = false

    /// - Returns: `nil` if the change is not the loss of a link or of its address, or if a hold-down has waited for it
    ///   already.
    package init?(beginningWith change: ReachabilityChange, _ patience: Patience) {
        guard let before = change.previous, before.status == .reachable, change.state.status == .notReachable,
            change.state.rootCause?.isBelowRoutes == true, change.cause != .holdElapsed
        else { return nil }
        self.patience = patience
        self.before = before
        first = change
        last = change
        loss = change
    }

    /// When ``joined`` is due, unless another change comes first.
    package var deadline: BootTime {
        let limit = first.bootTime + patience.rest
        guard backAt != nil else {
            let isLinkBack = first.state.isLinkLost && !last.state.isLinkLost
            return isLinkBack ? limit : min(loss.bootTime + patience.link, limit)
        }
        return last.state.isUndecided ? limit : min(last.bootTime + patience.settling, limit)
    }

    package mutating func add(_ change: ReachabilityChange) {
        last = change
        let state = change.state
        switch state.status {
        case .unknown: hasEnded = true
        case .notReachable:
            guard backAt != nil else { return }
            backAt = nil
            loss = change
            losses += 1
        case .reachable:
            backAt = backAt ?? change.bootTime
            hasEnded =
                state.interface != before.interface || ![.unknown, before.connectivity].contains(state.connectivity)
                || !state.isUndecided && StatusMachine.differences(from: before, to: state).isEmpty
        }
    }

    /// The difference that all changes together have made, with what was lost meanwhile.
    package var joined: JoinedChange {
        let isLost = last.state.status == .notReachable
        let stands = isLost ? loss : last
        let change = ReachabilityChange(
            at: Instant(wall: stands.time, boot: stands.bootTime), cause: stands.cause,
            aspects: StatusMachine.differences(from: before, to: last.state), previous: before, state: last.state
        ).numbered(last.sequenceNumber)
        let gap = backAt.flatMap { backAt in
            first.state.rootCause.map {
                JoinedChange.Gap(cause: $0, length: backAt - first.bootTime, losses: losses)
            }
        }
        return JoinedChange(change, gap: gap)
    }
}

/// A change for people and for hooks, which may stand for several.
package struct JoinedChange: Hashable, Sendable {
    /// What was lost and is back.
    package struct Gap: Hashable, Sendable {
        /// What broke first.
        package let cause: RootCause
        /// From the first loss to the last return.
        package let length: Duration
        /// How often it was lost in this time.
        package let losses: Int

        /// Such as `it was lost for 912 ms: eth0 has no carrier`.
        package var sentence: String {
            let length = DurationText.describe(length)
            return (losses == 1 ? "it was lost for \(length)" : "it was lost \(losses) times within \(length)")
                + ": \(cause.sentence)"
        }
    }

    /// The difference between the state before and the one now. It has no aspects if a link was lost and all is as
    /// before.
    package let change: ReachabilityChange
    /// `nil` if the target was not lost, or still is.
    package let gap: Gap?

    package init(_ change: ReachabilityChange, gap: Gap? = nil) {
        self.change = change
        self.gap = gap
    }
}

extension ReachabilityState {
    /// Whether a link is what is missing, and not only its address or its route.
    fileprivate var isLinkLost: Bool { rootCause?.kind.layer == .link }

    /// Whether a check is about to prove or refute the path.
    fileprivate var isUndecided: Bool { isValidated && connectivity == .unknown }
}
