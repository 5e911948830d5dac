/// Something about a configured probe that others are told.
package struct ProbeEvent: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Its target is well: for the first time, or again.
        case up
        /// Its target is not.
        case down
        /// Nothing is sent any more, since there is no path.
        case paused
        /// There is a path again.
        case resumed
        /// One attempt is done. Only where each was asked for.
        case result
    }

    package let kind: Kind
    package let moment: Instant
    /// The probe after it.
    package let report: ProbeReport

    package init(_ kind: Kind, at moment: Instant, report: ProbeReport) {
        self.kind = kind
        self.moment = moment
        self.report = report
    }
}
