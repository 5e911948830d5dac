package import ReachCore

/// A host that goes away or returns, at the corrected time.
package struct PresenceChange: Hashable, Sendable {
    /// Whose word it is.
    package enum Evidence: UInt8, Hashable, Sendable {
        /// The engine saw a connection or a lease end.
        case presumed
        /// The host's own event says so.
        case confirmed
    }

    /// The host's index among the members.
    package let member: Int
    package let time: Timestamp
    /// Whether the host is here from now on.
    package let isHere: Bool
    package let evidence: Evidence
    /// The host's own reason for being away.
    package let reason: Reason?
    /// Whether a return shows that the host was away until then. A daemon that starts does not show it.
    package let provesAbsence: Bool
    /// How much later it may have happened: a host that renews its lease every two minutes went at any time of the two
    /// minutes after its last renewal.
    package let vagueness: Duration
    /// Whether the host itself closed its connection, as when it is switched off or its agent ends.
    package let isClosing: Bool

    package init(
        member: Int, time: Timestamp, isHere: Bool, evidence: Evidence = .presumed, reason: Reason? = nil,
        provesAbsence: Bool = true, vagueness: Duration = .zero, isClosing: Bool = false
    ) {
        self.member = member
        self.time = time
        self.isHere = isHere
        self.evidence = evidence
        self.reason = reason
        self.provesAbsence = provesAbsence
        self.vagueness = vagueness
        self.isClosing = isClosing
    }
}
