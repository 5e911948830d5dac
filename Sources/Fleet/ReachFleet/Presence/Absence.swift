package import ReachCore

/// A time during which a host was away or had no path to the Internet: intervals of ``PresenceInterval`` that follow on
/// one another, for those who compare hosts.
package struct Absence: Hashable, Sendable {
    /// Whose word it is.
    package enum Evidence: UInt8, Hashable, Sendable {
        /// The engine saw a connection or a lease end.
        case presumed
        /// The host says so.
        case confirmed
    }

    /// The host's index among the members.
    package let member: Int
    /// When it began; `nil` before the window.
    package internal(set) var start: Timestamp?
    /// When it ended; `nil` while it lasts.
    package internal(set) var end: Timestamp?
    /// How much later it may have begun.
    package internal(set) var vagueness: Duration
    package internal(set) var evidence: Evidence
    package internal(set) var reason: Reason?
    /// Whether it is no outage: the host said goodbye, or it closed its connection and nothing that is known says
    /// whether it said goodbye.
    package internal(set) var isSwitchedOff: Bool

    package init(
        member: Int, start: Timestamp?, end: Timestamp? = nil, evidence: Evidence = .presumed,
        reason: Reason? = nil, vagueness: Duration = .zero, isSwitchedOff: Bool = false
    ) {
        self.member = member
        self.start = start
        self.end = end
        self.evidence = evidence
        self.reason = reason
        self.vagueness = vagueness
        self.isSwitchedOff = isSwitchedOff
    }

    /// Those of one host.
    ///
    /// - Parameter window: When the window begins: what began before is no departure within it.
    static func list(_ intervals: [PresenceInterval], member: Int, since window: Timestamp) -> [Absence] {
        var list: [Absence] = []
        var follows = false
        for interval in intervals where interval.end.map({ $0 >= window }) ?? true {
            let counts = interval.word == .away || interval.word == .limited
            defer { follows = counts }
            guard counts || interval.word == .left else { continue }
            if counts, follows {
                list[list.count - 1].join(interval)
                continue
            }
            list.append(
                Absence(
                    member: member, start: interval.start.flatMap { $0 < window ? nil : $0 }, end: interval.end,
                    evidence: counts && interval.isConfirmed ? .confirmed : .presumed, reason: interval.reason,
                    vagueness: interval.vagueness, isSwitchedOff: !counts))
        }
        return list
    }

    private mutating func join(_ interval: PresenceInterval) {
        end = interval.end
        reason = reason ?? interval.reason
        if interval.isConfirmed { evidence = .confirmed }
    }

    static func isEarlier(_ left: Absence, _ right: Absence) -> Bool {
        (left.start?.nanosecondsSince1970 ?? .min, left.member)
            < (right.start?.nanosecondsSince1970 ?? .min, right.member)
    }
}

/// The past of one host within a window.
package struct HostPast: Sendable {
    package internal(set) var intervals: [PresenceInterval] = []
    package internal(set) var absences: [Absence] = []
    /// When nobody can know, in nanoseconds since 1970.
    package internal(set) var unknown: [Range<Int64>] = []

    /// - Parameter known: Before this time something was left out, so that what is not there says nothing.
    init(
        _ intervals: [PresenceInterval], member: Int, since window: Timestamp, known: Timestamp, until now: Timestamp
    ) {
        self.intervals = intervals
        absences = Absence.list(intervals, member: member, since: window)
        // A host that never connected cannot be affected by an outage.
        if intervals == [PresenceInterval(.unknown)] {
            absences = [Absence(member: member, start: nil, isSwitchedOff: true)]
        }
        unknown = intervals.filter { $0.word == .unknown }.compactMap { interval in
            let start = interval.start?.nanosecondsSince1970 ?? .min
            let end = min(interval.end?.nanosecondsSince1970 ?? .max, now.nanosecondsSince1970)
            return start < end && end > window.nanosecondsSince1970 ? start..<end : nil
        }
        if known > window { leaveOut(before: known.nanosecondsSince1970) }
    }

    /// Nobody knows what was before, but for the absences whose begin was seen.
    private mutating func leaveOut(before known: Int64) {
        var (spans, from) = ([Range<Int64>](), Int64.min)
        for absence in absences where !absence.isSwitchedOff {
            guard let start = absence.start?.nanosecondsSince1970, start < known else { continue }
            if from < start { spans.append(from..<start) }
            from = max(from, absence.end?.nanosecondsSince1970 ?? .max)
        }
        if from < known { spans.append(from..<known) }
        unknown.insert(contentsOf: spans, at: 0)
    }

    package init(absences: [Absence] = [], unknown: [Range<Int64>] = []) {
        (self.absences, self.unknown) = (absences, unknown)
    }

    /// What counts neither for the host nor against it, in nanoseconds since 1970: when nobody can know, and when it
    /// was switched off.
    package var uncounted: [Range<Int64>] {
        unknown
            + absences.filter(\.isSwitchedOff).compactMap { absence in
                let start = absence.start?.nanosecondsSince1970 ?? .min
                let end = absence.end?.nanosecondsSince1970 ?? .max
                return start < end ? start..<end : nil
            }
    }

    /// Since when something is known of the host; `nil` for all of the window.
    package func known(since window: Timestamp) -> Timestamp? {
        let first = unknown.filter { $0.lowerBound <= window.nanosecondsSince1970 }.map(\.upperBound).max()
        return first.flatMap { $0 > window.nanosecondsSince1970 ? Timestamp(nanosecondsSince1970: $0) : nil }
    }
}

extension [HostPast] {
    /// The absences of all, the earliest first.
    package var sortedAbsences: [Absence] { flatMap(\.absences).sorted(by: Absence.isEarlier) }
}
