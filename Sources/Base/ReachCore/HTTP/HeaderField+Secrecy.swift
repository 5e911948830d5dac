/// Who may see a request's header fields.
extension HeaderField {
    /// Whether anyone may see the value: it says how to answer, and nothing about who asks.
    ///
    /// Every other field may be a secret. Servers name those as they like (`X-Api-Key`, `PRIVATE-TOKEN`, `X-Auth-Token`), so
    /// that a list of secrets would never be complete.
    package var isHarmless: Bool { Self.harmless.contains(name.lowercased()) }

    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-disposition",
        "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date", "dnt",
        "expect",
        "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "origin", "pragma", "prefer", "priority", "range", "tracestate", "traceparent",
        "upgrade-insecure-requests", "user-agent", "x-correlation-id", "x-request-id", "x-requested-with",
    ]

    /// Whether the name says that the value is a secret. Requests of programs have fields of their own, most of which go along
    /// to another origin.
    package var isNamedAsSecret: Bool {
        let name = name.lowercased()
        return !Self.harmless.contains(name) && Self.secretWords.contains { name.utf8Range(of: $0) != nil }
    }

    private static let secretWords = [
        "auth", "cookie", "credential", "key", "passw", "secret", "session", "signature", "token",
    ]
}
