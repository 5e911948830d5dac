package import ReachCore

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

/// What a server's `Retry-After` asks for (RFC 9110, 10.2.3): a number of seconds, or a date.
package enum RetryAfter {
    /// - Parameters:
    ///   - date: The answer's `Date` header: a date is measured against the server's own clock if it is known.
    ///   - now: This machine's wall clock, for answers without one.
    /// - Returns: The wait, at most `longest`; `nil` where nothing is asked for: garbage, negative, zero, or past.
    package static func parse(_ value: String, date: String?, now: Timestamp, longest: Duration) -> Duration? {
        let text = value.dropScalars { $0 == " " || $0 == "\t" }
        let digits = text.prefixScalars(while: \.isDigit)
        if !digits.isEmpty, text[digits.endIndex...].trimmed.isEmpty {
            // More digits than a number holds ask for more than is granted.
            guard let seconds = Int64(digits), seconds < Int64(1) << 40 else { return longest }
            return seconds > 0 ? min(.seconds(seconds), longest) : nil
        }
        guard let until = HTTPDate.parse(String(text)) else { return nil }
        let from = date.flatMap(HTTPDate.parse) ?? now
        let wait = Duration.nanoseconds(until.nanosecondsSince1970) - .nanoseconds(from.nanosecondsSince1970)
        return wait > .zero ? min(wait, longest) : nil
    }

    /// The wait with up to a tenth more, so that clients with the same answer do not come back together.
    package static func jittered(_ wait: Duration, using generator: inout some RandomNumberGenerator) -> Duration {
        wait + wait * Double.random(in: 0...0.1, using: &generator)
    }
}
