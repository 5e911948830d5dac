package import ReachCore
internal import ReachRecords

/// What a reader knows about the engine itself when it judges hosts.
package struct EngineFacts: Hashable, Sendable {
    /// The present by the engine's clock.
    package var now: Timestamp
    /// How long the engine keeps a lease that is not renewed, often longer than the lease lasts; `nil` if each lease
    /// has its own time (servers since 2.11).
    package var leaseAge: Duration?
    /// When the engine started; `nil` if it does not say. Hosts need time to renew their leases afterwards.
    package var started: Timestamp?
    /// The latest word of any host that it had before it started; `nil` if that is not known.
    package var stopped: Timestamp?

    package init(now: Timestamp, leaseAge: Duration? = nil, started: Timestamp? = nil) {
        self.now = now
        self.leaseAge = leaseAge
        self.started = started
    }
}

extension EngineFacts {
    /// Notes when the engine had the last word before it started. Newer words of the hosts take the place of those, so
    /// what was noted before counts, too.
    package mutating func noteLastWord(in roster: Roster) {
        guard let started, let word = roster.lastWord(before: started) else { return }
        stopped = max(stopped ?? word, word)
    }

    /// These facts with what the earlier ones noted, if the engine has not restarted since.
    package func continuing(_ earlier: EngineFacts) -> EngineFacts {
        var facts = self
        if started == earlier.started { facts.stopped = earlier.stopped }
        return facts
    }
}

/// A host's word, since when, and on what grounds.
package struct HostPresence: Hashable, Sendable {
    package let word: HostWord
    /// Since when, by the engine's clock.
    package let since: Timestamp?
    /// The same by the host's clock, if that differs by more than 2 s.
    package let hostSince: Timestamp?
    /// Why, in words for people; `nil` if there is nothing to say.
    package let why: String?
    /// A stable word for programs.
    package let reason: String?
    /// Whether the engine concludes it from silence, and the host has not said so itself.
    package let isPresumed: Bool
    /// When the engine last had something from the host.
    package let lastSeen: Timestamp?

    /// The word for people. One target or probe that is down is other trouble than no Internet, for programs the reason
    /// says which.
    package var shown: String { isDegraded ? Self.degraded : word.shown }
    package static let degraded = "degraded"
    package var isDegraded: Bool { word == .limited && reason == RosterHost.targetDown }

    package init(
        _ word: HostWord, since: Timestamp? = nil, hostSince: Timestamp? = nil, why: String? = nil,
        reason: String? = nil, isPresumed: Bool = false, lastSeen: Timestamp? = nil
    ) {
        self.word = word
        self.since = since
        self.hostSince = hostSince
        self.why = why
        self.reason = reason
        self.isPresumed = isPresumed
        self.lastSeen = lastSeen
    }
}

extension RosterHost {
    /// Missed renewals count after this: the time on the way, and the engine's own delay in ending leases.
    package static let leaseGrace: Duration = .seconds(1)
    /// How long hosts need to come back after the engine was away: the longest wait before they try again.
    package static let returning = ReconnectDelay.longest + FleetMachine.patience
    /// The reason of a host that may not have come back yet after the engine's restart.
    static let engineRestart = "engine-restart"

    /// When the engine last had something from the host.
    package var lastSeen: Timestamp? {
        [lastRenewal, report?.stored, connection?.sighting].compactMap(\.self).max()
    }

    /// When the engine had the last renewal of the lease. Of a lease whose end a server marks only that is kept, as
    /// earlier versions of `reach-fleet` set it up since 2.11: it was renewed a lease's time before.
    package var lastRenewal: Timestamp? {
        if let lease { return lease.renewed }
        guard let leaseEnded, leaseIsExpired, let report else { return nil }
        return leaseEnded + (.zero - report.lease * HostLease.patience)
    }

    /// When the lease ends unless it is renewed; `nil` without one.
    package func leaseEnd(_ engine: EngineFacts) -> Timestamp? {
        guard let lease, leaseEnded == nil else { return nil }
        let patience = (report?.lease ?? HostLease.unreported) * HostLease.patience
        return lease.renewed + (min(patience, engine.leaseAge ?? patience) + Self.leaseGrace)
    }

    /// How long after ``lastSeen`` a host that is presumed silent may have gone: until its next renewal was due, or its
    /// connection ended.
    package var vagueness: Duration {
        let lease = report?.lease ?? .zero
        guard let connection, !connection.isUp, let lastSeen, connection.time >= lastSeen else { return lease }
        return min(lease, lastSeen.duration(to: connection.time))
    }

    /// From when on the absence of a host that is silent counts, also if it comes back: before, it may be reconnecting.
    func countsFrom(_ presence: HostPresence) -> Timestamp? {
        guard let since = presence.since else { return nil }
        let hasClosed = connection.map { !$0.isUp && $0.ending == .closed && $0.time == since } ?? false
        // Of one that closed its connection only its own report says that it was no goodbye.
        let lease = hasClosed ? report?.lease ?? .zero : vagueness
        return since + HostAbsence.longestReconnection(lease: lease)
    }

    /// The host's word now.
    package func presence(_ engine: EngineFacts) -> HostPresence {
        if let report, let left = report.left, lease.map({ leaseEnded != nil || $0.renewed <= report.stored }) ?? true {
            return HostPresence(
                .left, since: corrected(left), hostSince: differing(left), why: "said goodbye", reason: "goodbye",
                lastSeen: lastSeen)
        }
        guard lease != nil || report != nil || connection != nil || leaseEnded != nil else {
            return HostPresence(.unseen, why: "its key has never connected", reason: "never-connected")
        }
        if let lease, leaseEnded == nil {
            // A reader may have a new host's lease before its state: they are two streams.
            if report == nil, engine.now < lease.renewed + Self.leaseGrace { return unreported }
            if let silence = endedConnection { return silence }
            guard let end = leaseEnd(engine), end < engine.now else { return ownWord(isPresumed: false) }
            return isWithinRestart(engine) ? notYetBack : leaseRanOut
        }
        if endedConnection == nil, isWithinRestart(engine) { return notYetBack }
        // A new host may be read before its first lease, and before its state.
        if leaseEnded == nil, connection?.isUp != false {
            guard let report else { return unreported }
            if engine.now <= report.stored + (report.lease * HostLease.patience + Self.leaseGrace) {
                return ownWord(isPresumed: true)
            }
        }
        return endedConnection ?? leaseRanOut
    }

    /// Leases may be in memory, or end while the engine is down: after its restart hosts need some time to come back.
    /// One that was silent when the engine stopped stays so.
    private func isWithinRestart(_ engine: EngineFacts) -> Bool {
        guard report != nil || lease != nil, let started = engine.started,
            engine.now < started + (Self.returning + Self.leaseGrace), lastSeen.map({ $0 < started }) ?? true
        else { return false }
        if let leaseEnded, leaseEnded < started { return false }
        guard let stopped = engine.stopped, let lease else { return true }
        return lease.renewed + ((report?.lease ?? HostLease.unreported) * HostLease.patience + Self.leaseGrace)
            >= stopped
    }

    private var notYetBack: HostPresence {
        ownWord(
            isPresumed: true, why: "the engine restarted; the lease is not renewed yet", reason: Self.engineRestart)
    }

    private var unreported: HostPresence {
        HostPresence(.unseen, why: "it has not reported a state", reason: "no-state", lastSeen: lastSeen)
    }

    private var leaseRanOut: HostPresence {
        HostPresence(
            .silent, since: lastSeen ?? leaseEnded, why: "its lease ran out" + lastWords, reason: "lease",
            isPresumed: true, lastSeen: lastSeen ?? leaseEnded)
    }

    /// A connection that ended, after the last renewal and without a goodbye, is a host that went.
    private var endedConnection: HostPresence? {
        guard let connection, !connection.isUp, connection.ending != .shutdown,
            connection.time > lastRenewal ?? connection.start
        else { return nil }
        let words = connection.reason.map { ": \($0)" } ?? ""
        return HostPresence(
            .silent, since: lastSeen, why: "its connection ended\(words)\(lastWords)", reason: "connection",
            isPresumed: true, lastSeen: lastSeen)
    }

    /// What the host said last, if that was trouble.
    private var lastWords: String {
        ownWord(isPresumed: true).why.map { "; before: \($0)" } ?? ""
    }

    /// The word of a host that is here, by its own state.
    private func ownWord(isPresumed: Bool, why: String? = nil, reason: String? = nil) -> HostPresence {
        let trouble = report.map(Self.trouble) ?? Trouble(why: "it has not reported a state", reason: "no-state")
        let since = report?.internet?.since ?? lease?.since
        return HostPresence(
            trouble == nil ? .here : .limited, since: since.map(corrected), hostSince: since.flatMap(differing),
            why: why ?? trouble?.why, reason: reason ?? trouble?.reason, isPresumed: isPresumed, lastSeen: lastSeen)
    }

    static let targetDown = "target-down"
    /// What one of two machines with one identity says.
    static let conflict = "another machine uses its identity"

    private struct Trouble: Hashable {
        let why: String
        let reason: String
    }

    private static func trouble(_ report: Report) -> Trouble? {
        guard let internet = report.internet else {
            return Trouble(why: "its daemon does not answer", reason: "no-status")
        }
        switch internet.status {
        case .notReachable:
            let reason = internet.reason?.rawValue ?? "not-reachable"
            let cause = internet.rootCause.map { ": \($0.sentence)" } ?? ""
            return Trouble(why: "the Internet is not reachable (\(reason)\(cause))", reason: reason)
        case .unknown: return Trouble(why: "the Internet's status is unknown", reason: "unknown")
        case .reachable: break
        }
        switch internet.connectivity {
        case .portal: return Trouble(why: "a captive portal requires a login", reason: "portal")
        case .limited:
            let cause = internet.connectivityReason?.partialOutage
            return Trouble(
                why: cause?.sentence ?? "there is a path, but the Internet does not answer",
                reason: cause?.evidence ?? "limited")
        case .unknown, .none, .full: break
        }
        if report.hasConflict { return Trouble(why: conflict, reason: "conflict") }
        guard let first = report.down.first else { return nil }
        let more = report.down.count > 1 ? " and \(report.down.count - 1) more" : ""
        return Trouble(why: "\(first)\(more) down", reason: targetDown)
    }

    private func differing(_ time: Timestamp) -> Timestamp? { corrected(time) == time ? nil : time }
}

/// How a host stands in the fleet, in one word.
package enum HostWord: String, Hashable, Sendable, CaseIterable {
    /// It renews its lease and reaches what it watches.
    case here
    /// It renews its lease, but a portal, a limited path or a target that is down stands in its way.
    case limited
    /// Its lease ran out or its connection ended, and it did not say goodbye.
    case silent
    /// It said goodbye.
    case left
    /// Its key is known, but it has never connected, or never reported.
    case unseen

    /// The word for people, who say "online" for what programs read as "here".
    package var shown: String { self == .here ? "online" : rawValue }

    /// Whether the host is not online.
    package var isAway: Bool { self == .silent || self == .left }
}
