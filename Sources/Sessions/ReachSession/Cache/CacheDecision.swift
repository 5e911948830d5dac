package import ReachCore

/// How a request uses the session's cache.
///
/// The first follows RFC 9111. The others are the caller's own will, as those of URLRequest.CachePolicy, and are
/// stronger than what the server says: the response's ``RequestResponse/cacheUse`` says how old it is.
public enum CachePolicy: Hashable, Sendable, CaseIterable {
    /// A stored response is used while it is fresh. Otherwise the server is asked whether it still holds, if it gave an
    /// entity tag or a date, and else for another one. After a failure a stale one is used as long as the server allows
    /// (`stale-if-error`).
    case useProtocol
    /// The request is sent as if nothing were stored; the answer is stored.
    case reload
    /// A stored response is used whatever its age; without one the request is sent.
    case returnCacheElseLoad
    /// A stored response is used whatever its age; without one the request fails with the word `not-cached`.
    case returnCacheDontLoad
    /// As ``useProtocol`` while there is a network. Where the request would wait for one, or the first attempt fails, a
    /// stored response is used whatever its age.
    case returnCacheWhenOffline
}

/// The use that a response made of the session's cache.
public struct CacheUse: Hashable, Sendable {
    /// The time since the server made the response, or last confirmed it (RFC 9111, 4.2.3).
    public let age: Duration
    /// Whether the response was older than the server allows.
    public let isStale: Bool
    /// Whether the server confirmed the stored response just now (304).
    public let isValidated: Bool

    package init(age: Duration, isStale: Bool = false, isValidated: Bool = false) {
        self.age = age
        self.isStale = isStale
        self.isValidated = isValidated
    }
}

/// What a request makes of a stored response (RFC 9111, 4): a value.
package enum CacheDecision: Hashable, Sendable {
    /// Send the request, as nothing that is stored is of use.
    case send
    /// Send the request, and ask whether what is stored still holds.
    case validate
    /// Answer with what is stored.
    case answer(CacheUse)
    /// The request may not be sent, and nothing stored answers it.
    case unavailable

    package init(_ policy: CachePolicy, _ stored: CachedResponse?, _ query: CacheQuery, at now: Timestamp) {
        let asked = CacheControl(query.fields)
        let mayNotSend = policy == .returnCacheDontLoad || asked.onlyIfCached
        let nothing: CacheDecision = mayNotSend ? .unavailable : .send
        guard policy != .reload, !query.isConditional else {
            self = .send
            return
        }
        guard let stored, stored.answers(query) else {
            self = nothing
            return
        }
        switch policy {
        case .returnCacheElseLoad, .returnCacheDontLoad: self = .answer(stored.use(at: now))
        case .useProtocol, .returnCacheWhenOffline, .reload:
            if asked.noStore {
                self = nothing
            } else if stored.isUsable(for: asked, at: now) {
                self = .answer(stored.use(at: now))
            } else {
                // A HEAD says nothing about whether a stored body still holds.
                self = asked.onlyIfCached ? .unavailable : query.isHead ? .send : .validate
            }
        }
    }
}

extension CachedResponse {
    /// The use as it is, without asking the server.
    package func use(at now: Timestamp) -> CacheUse {
        let age = age(at: now)
        return CacheUse(age: .seconds(min(age, 1 << 31)), isStale: age >= lifetime)
    }

    /// Whether it may be used without asking the server.
    fileprivate func isUsable(for asked: CacheControl, at now: Timestamp) -> Bool {
        guard !asked.noCache, !control.noCache else { return false }
        let age = age(at: now)
        if let most = asked.maximumAge, age > most { return false }
        let rest = lifetime - age
        if rest > (asked.minimumFresh ?? 0) { return true }
        guard let staleness = asked.maximumStale, !control.mustRevalidate else { return false }
        return asked.minimumFresh == nil && -rest <= staleness
    }

    /// Whether it may stand in for an answer that failed (RFC 5861, 4).
    package func mayReplaceFailure(at now: Timestamp) -> Bool {
        guard let most = control.staleIfError, !control.mustRevalidate, !control.noCache else { return false }
        return age(at: now) - lifetime <= most
    }

    /// The statuses that RFC 5861 counts as failures.
    package static let failures: Set<Int> = [500, 502, 503, 504]
}
