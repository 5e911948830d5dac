/// An event of a configured probe, for subscribers and hooks.
package struct ProbeEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The target works, for the first time or again.
        case up
        /// The target does not work.
        case down
        /// The probe paused, because there is no path.
        case paused
        /// The probe resumed, because there is a path again.
        case resumed
        /// One attempt ended. Sent only to subscribers that requested every result.
        case result
    }

    package let kind: Kind
    package let moment: Instant
    /// When the state that the event reports began, which may be earlier: it takes several results.
    package let since: Instant
    /// The state of the probe after the event.
    package let report: ProbeReport

    package init(_ kind: Kind, at moment: Instant, since: Instant? = nil, report: ProbeReport) {
        self.kind = kind
        self.moment = moment
        self.since = since ?? moment
        self.report = report
    }
}
