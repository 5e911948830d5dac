/// Whether a request may be sent a second time when it is not known what became of the first.
package enum Idempotency: Hashable, Sendable {
    /// As its method promises: GET, HEAD, OPTIONS, TRACE, PUT and DELETE may (RFC 9110, 9.2.2), others may not.
    case byMethod
    /// The server tells repetitions by this key, the same in every attempt (the `Idempotency-Key` header).
    case key(String)

    private static let repeatable: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    package func allowsRepetition(ofMethod method: String) -> Bool {
        if case .key = self { return true }
        return Self.repeatable.contains(method)
    }
}
