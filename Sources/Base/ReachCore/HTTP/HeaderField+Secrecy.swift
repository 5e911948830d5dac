/// Who may see a request's header fields.
extension HeaderField {
    /// Whether anyone may see the value: it says how to answer, and nothing about who asks.
    ///
    /// Every other field may be a secret. Servers name those as they like (`X-Api-Key`, `PRIVATE-TOKEN`,
    /// `X-Auth-Token`), so that a list of secrets would never be complete.
    package var isHarmless: Bool { Self.harmless.contains(name.lowercased()) }

    private static let harmless: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-disposition",
        "content-encoding", "content-language", "content-length", "content-md5", "content-type", "date", "dnt",
        "expect",
        "host", "idempotency-key", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
        "origin", "pragma", "prefer", "priority", "range", "tracestate", "traceparent",
        "upgrade-insecure-requests", "user-agent", "x-correlation-id", "x-request-id", "x-requested-with",
    ]

    /// Whether the name says that the value is a secret, which no redirect takes to another origin. Programs have
    /// fields of their own, most of which go along there; who names a field by one of these words keeps it from that.
    package var isNamedAsSecret: Bool {
        let name = name.lowercased()
        return !Self.harmless.contains(name) && Self.secretWords.contains { name.utf8Range(of: $0) != nil }
    }

    /// What names of secrets contain. `Referer` may have a secret in the URL that it quotes.
    private static let secretWords = [
        "access", "assertion", "auth", "bearer", "cert", "cookie", "credential", "csrf", "hmac", "identity", "jwt",
        "key", "login", "nonce", "otp", "pass", "principal", "proof", "referer", "saml", "secret", "session", "sig",
        "ticket", "token", "xsrf",
    ]
}
