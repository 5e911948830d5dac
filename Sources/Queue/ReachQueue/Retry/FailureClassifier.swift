/// Whose fault a failed attempt was: the network's, the destination's, or the request's own.
package enum FailureClassifier {
    /// What is to be done about an end.
    package enum Verdict: Hashable, Sendable {
        /// The status is one the client accepts.
        case success
        /// The network here: it costs no attempt, and the wait is cut when the network changes.
        case network
        /// The destination: it costs an attempt.
        case destination
        /// One or the other: a check of the path decides.
        case undecided
        /// No one's: try again without counting.
        case uncounted
        /// Certificates cannot be judged before the clock is set.
        case clock
        /// The disk has no room for the answer.
        case disk
        case permanent(DeathReason)
    }

    /// Worth another try, by HTTP's meaning and by what servers do (522, 524: a CDN's time-outs).
    package static let retriableStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 522, 524]

    package static func judge(status: Int, isAccepted: Bool) -> Verdict {
        if isAccepted { return .success }
        if retriableStatuses.contains(status) { return .destination }
        return .permanent([401, 403, 407].contains(status) ? .authentication : .refused)
    }

    /// - Parameter pathChanged: The attempt's path is lost, or the network's epoch moved since it started.
    package static func judge(_ fault: AttemptFault, pathChanged: Bool) -> Verdict {
        switch fault.kind {
        case .transient: pathChanged ? .network : .undecided
        case .localNetwork, .proxy: .network
        case .disk: .disk
        // For the first, the condition is evaluated again.
        case .interface, .local: .uncounted
        case .certificateTime where fault.isClockUnset: .clock
        case .certificate, .certificateTime: .permanent(.untrusted)
        case .pin: .permanent(.pinMismatch)
        case .invalid: .permanent(.invalid)
        case .redirects: .permanent(.redirects)
        case .unreadable: .permanent(.unreadable)
        case .quota: .permanent(.quota)
        case .refused: .permanent(.refused)
        case .file: .permanent(.file)
        }
    }
}
