/// Whose fault a failed attempt was: the network's, the destination's, or the request's own (scheduling.md 4.4).
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
        /// Nobody's: try again without counting.
        case uncounted
        /// Certificates cannot be judged before the clock is set.
        case clock
        case permanent(DeathReason)
    }

    /// ENETDOWN, ENETUNREACH, ENODEV, EADDRNOTAVAIL: this machine could not send. EHOSTUNREACH is not among them, as it
    /// may come from a router far away.
    package static let localErrors: Set<Int32> = [100, 101, 19, 99]

    /// Worth another try, by HTTP's meaning and by what servers do (522, 524: a CDN's time-outs).
    package static let retriableStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504, 522, 524]

    package static func judge(status: Int, isAccepted: Bool) -> Verdict {
        if isAccepted { return .success }
        if retriableStatuses.contains(status) { return .destination }
        return .permanent([401, 403, 407].contains(status) ? .authentication : .refused)
    }

    /// - Parameter pathChanged: The attempt's path is lost, or the network's epoch moved since it started.
    package static func judge(_ fault: TransferFault, pathChanged: Bool) -> Verdict {
        switch fault.code {
        // CURLE_INTERFACE_FAILED: the constraint is looked at anew. 2, 27, 42: memory, our own abort.
        case 45, 2, 27, 42: return .uncounted
        case 60 where fault.isClockUnset: return .clock
        case 60, 83, 91: return .permanent(.untrusted)
        case 90: return .permanent(.pinMismatch)
        case 1, 3, 4, 43: return .permanent(.invalid)
        case 47: return .permanent(.redirects)
        case 61, 63: return .permanent(.unreadable)
        case 78: return .permanent(.refused)
        case 23, 26, 37, 58, 77: return .permanent(.file)
        default:
            // 5, 6, 7, 16, 18, 28, 35, 52, 55, 56, 92, and those that a newer libcurl may add.
            return pathChanged || localErrors.contains(fault.systemError) ? .network : .undecided
        }
    }
}
