package import ReachCore

/// A time during which a host was away: silent, or without a path to the Internet.
package struct Absence: Hashable, Sendable {
    /// The host's index among the members.
    package let member: Int
    /// When it began; `nil` before the window.
    package internal(set) var start: Timestamp?
    /// When it ended; `nil` while it lasts.
    package internal(set) var end: Timestamp?
    /// How much later it may have begun.
    package internal(set) var vagueness: Duration
    package internal(set) var evidence: PresenceChange.Evidence
    package internal(set) var reason: Reason?
    /// Whether the host closed its connection itself and has not said that it was away: it was switched off, or its agent was.
    package internal(set) var isSwitchedOff: Bool
    /// Whether the host said goodbye, and is not back.
    var isGoodbye = false
    /// Whether it is no trouble: the host said goodbye, and not that it was away.
    var isIntended: Bool { isSwitchedOff && isGoodbye }
    /// Whether the end, too, is the host's own word.
    var endIsConfirmed = false

    package init(
        member: Int, start: Timestamp?, end: Timestamp? = nil, evidence: PresenceChange.Evidence = .presumed,
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
}

extension Absence {
    /// The longest time between the end of a connection and the next that counts as reconnecting and not as an absence,
    /// unless the host itself says that it was away. A restart of the engine is over within it.
    package static let reconnecting: Duration = .seconds(30)

    /// Joins what the engine saw with what the hosts themselves say.
    ///
    /// A host that says when it went away or came back is believed, since it was there; what the engine saw counts until
    /// then.
    ///
    /// - Parameters:
    ///   - changes: In any order.
    ///   - isHere: For each member, whether it is here at the end of the window. It decides about hosts without a change.
    /// - Returns: The absences, the earliest first.
    package static func list(of changes: [PresenceChange], isHere: [Bool]) -> [Absence] {
        var open = [Absence?](repeating: nil, count: isHere.count)
        var last = [Int](repeating: -1, count: isHere.count)
        var list: [Absence] = []
        for change in changes.sorted(by: isEarlier) where isHere.indices.contains(change.member) {
            if change.isHere {
                end(change, &open, &last, &list)
            } else {
                begin(change, &open)
            }
        }
        for (member, absence) in open.enumerated() {
            if let absence {
                list.append(absence)
            } else if last[member] < 0, !isHere[member] {
                list.append(Absence(member: member, start: nil))
            }
        }
        return list.filter(\.counts).sorted(by: isEarlier)
    }

    private static func begin(_ change: PresenceChange, _ open: inout [Absence?]) {
        guard let absence = open[change.member] else {
            open[change.member] = Absence(
                member: change.member, start: change.time, evidence: change.evidence, reason: change.reason,
                vagueness: change.vagueness, isSwitchedOff: change.isClosing && change.evidence == .presumed)
            return
        }
        guard absence.evidence == .presumed, change.evidence == .confirmed else { return }
        open[change.member]?.evidence = .confirmed
        open[change.member]?.reason = change.reason
        open[change.member]?.start = change.time
        open[change.member]?.vagueness = change.vagueness
        open[change.member]?.isSwitchedOff = false
    }

    /// Ends the open absence. Without one the host was away before the window, unless this confirms an end that the engine
    /// saw first.
    private static func end(
        _ change: PresenceChange, _ open: inout [Absence?], _ last: inout [Int], _ list: inout [Absence]
    ) {
        let member = change.member
        if var absence = open[member] {
            absence.end = change.time
            absence.endIsConfirmed = change.evidence == .confirmed
            last[member] = list.count
            list.append(absence)
            open[member] = nil
        } else if last[member] < 0 {
            guard change.provesAbsence else { return }
            last[member] = list.count
            list.append(Absence(member: member, start: nil, end: change.time))
        } else if change.evidence == .confirmed, !list[last[member]].endIsConfirmed,
            list[last[member]].evidence == .confirmed
        {
            list[last[member]].end = change.time
            list[last[member]].endIsConfirmed = true
        }
    }

    /// Whether it was one: it took time, and more than a connection needs to come back if only the engine saw it.
    private var counts: Bool {
        guard let start, let end else { return true }
        let nanoseconds = end.nanosecondsSince1970 &- start.nanosecondsSince1970
        return nanoseconds > (evidence == .confirmed ? 0 : Self.reconnecting.nanoseconds)
    }

    private static func isEarlier(_ left: PresenceChange, _ right: PresenceChange) -> Bool {
        // Of two at the same time the departure is first, since a return ends it.
        (left.time, left.isHere ? 1 : 0, left.evidence.rawValue, left.member)
            < (right.time, right.isHere ? 1 : 0, right.evidence.rawValue, right.member)
    }

    private static func isEarlier(_ left: Absence, _ right: Absence) -> Bool {
        (left.start?.nanosecondsSince1970 ?? .min, left.member)
            < (right.start?.nanosecondsSince1970 ?? .min, right.member)
    }
}

extension [Absence] {
    /// Those of each member, in their order.
    func byMember(of count: Int) -> [[Absence]] {
        reduce(into: [[Absence]](repeating: [], count: count)) { $0[$1.member].append($1) }
    }
}
