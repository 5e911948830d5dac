package import ReachCore

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
