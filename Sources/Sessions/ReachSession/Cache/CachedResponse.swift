package import ReachCore
internal import ReachQueue
internal import ReachTransfer

/// What of a request decides whether a stored response answers it.
package struct CacheQuery: Equatable {
    package var isHead: Bool
    /// The request's fields, as far as they are known before it is sent.
    package var fields: [HeaderField]
    /// A digest of the Authorization field that the caller gave the request, or else of the users whose credentials the
    /// session's storage has. Credentials that a hook adds later are not known here.
    package var authorization: String?

    package init(isHead: Bool = false, fields: [HeaderField] = [], authorization: String? = nil) {
        self.isHead = isHead
        self.fields = fields
        self.authorization = authorization
    }

    /// The request asks for a part, or validates by itself: the cache stays out of its way.
    package var isConditional: Bool {
        fields.contains { field in
            ["range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range"]
                .contains(field.name.lowercased())
        }
    }

    /// A digest of the value that a response's `Vary` selects by; several fields of the name are one list. Not the
    /// value itself: `Vary` may name Authorization or Cookie, and stored responses are written to disk.
    package func digest(of name: String) -> String? {
        let values = fields.filter { $0.isNamed(name) }.map(\.value)
        return values.isEmpty ? nil : MessageDigest.sha256.hexadecimal(values.joined(separator: ", "))
    }
}

/// A stored response, and its age and freshness (RFC 9111, 4.2): a value.
package struct CachedResponse: Equatable, Sendable {
    /// The URL that answered.
    package var url: String
    package var status: Int
    package var version: String
    package var fields: [HeaderField]
    package var body: [UInt8]
    /// When the request was sent, and when the response arrived, on this machine's clock.
    package var requested: Timestamp
    package var received: Timestamp
    /// Digests of the request's values of the fields that `Vary` names, and of its cookies, in lower case.
    package var selecting: [String: String?]
    /// Whom it is for: see ``CacheQuery/authorization``.
    package var authorization: String?

    package init(
        url: String, status: Int, version: String = "HTTP/1.1", fields: [HeaderField], body: [UInt8] = [],
        requested: Timestamp, received: Timestamp, selecting: [String: String?] = [:], authorization: String? = nil
    ) {
        self.url = url
        self.status = status
        self.version = version
        self.fields = fields
        self.body = body
        self.requested = requested
        self.received = received
        self.selecting = selecting
        self.authorization = authorization
    }

    package var control: CacheControl { CacheControl(fields) }

    package subscript(name: String) -> String? { fields.first { $0.isNamed(name) }?.value }

    /// The bytes that count against the limits of a cache.
    package var bytes: Int {
        fields.reduce(body.count + url.utf8.count + 256) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    // MARK: - Selecting

    /// Whether it answers this request, apart from its age (RFC 9111, 4.1).
    package func answers(_ query: CacheQuery) -> Bool {
        guard authorization == query.authorization else { return false }
        return selecting.allSatisfy { $0.value == query.digest(of: $0.key) }
    }

    // MARK: - Freshness

    /// The age in seconds (RFC 9111, 4.2.3). A clock that was set back makes it as old as can be.
    package func age(at now: Timestamp) -> Int64 {
        guard now >= received else { return .max / 2 }
        let date = self["date"].flatMap(HTTPDate.parse) ?? received
        let apparent = max(0, Self.seconds(from: date, to: received))
        let corrected =
            (self["age"].flatMap(CacheControl.seconds) ?? 0) + max(0, Self.seconds(from: requested, to: received))
        return max(apparent, corrected) + Self.seconds(from: received, to: now)
    }

    /// For how many seconds it is fresh (RFC 9111, 4.2.1 and 4.2.2).
    package var lifetime: Int64 {
        if let age = control.maximumAge { return age }
        let date = self["date"].flatMap(HTTPDate.parse) ?? received
        if let expires = self["expires"] {
            // A date that cannot be read has passed.
            return HTTPDate.parse(expires).map { max(0, Self.seconds(from: date, to: $0)) } ?? 0
        }
        guard Self.heuristic.contains(status) || control.isPublic,
            let modified = self["last-modified"].flatMap(HTTPDate.parse)
        else { return 0 }
        return min(max(0, Self.seconds(from: modified, to: date)) / 10, Self.longestHeuristic)
    }

    /// A tenth of the time since the last change, and not beyond a day, after which RFC 9111 (4.2.2) sees a reason to
    /// warn.
    private static let longestHeuristic: Int64 = 86_400

    /// The statuses that may be stored without an explicit lifetime (RFC 9110, 15.1), but for redirects and parts.
    static let heuristic: Set<Int> = [200, 203, 204, 300, 404, 405, 410, 414, 501]

    private static func seconds(from start: Timestamp, to end: Timestamp) -> Int64 {
        end.nanosecondsSince1970 / 1_000_000_000 - start.nanosecondsSince1970 / 1_000_000_000
    }

    // MARK: - Validation

    /// The fields that ask the server whether it is still current; empty if the server gave nothing to ask by.
    package var validators: [HeaderField] {
        var found: [HeaderField] = []
        if let tag = self["etag"] { found.append(HeaderField("If-None-Match", tag)) }
        if let date = self["last-modified"], HTTPDate.parse(date) != nil {
            found.append(HeaderField("If-Modified-Since", date))
        }
        return found
    }

    /// Whether a 304 is about this response: it must not name another entity tag.
    package func isConfirmed(by fields: [HeaderField]) -> Bool {
        guard let received = fields.first(where: { $0.isNamed("ETag") })?.value, let stored = self["etag"] else {
            return true
        }
        return Self.opaque(received) == Self.opaque(stored)
    }

    private static func opaque(_ tag: String) -> Substring { tag.after("W/") ?? tag[...] }

    /// Takes over the fields of a 304, and its times (RFC 9111, 3.2).
    package mutating func update(by newer: [HeaderField], requested: Timestamp, received: Timestamp) {
        let updates = CacheRules.storable(newer).filter { field in !Self.kept.contains { field.isNamed($0) } }
        // An age that an earlier answer had is not that of this one.
        fields.removeAll { field in field.isNamed("Age") || updates.contains { $0.isNamed(field.name) } }
        fields += updates
        (self.requested, self.received) = (requested, received)
    }

    /// Fields about the stored body, which a 304 does not have.
    private static let kept = ["Content-Length", "Content-Encoding", "Content-Type", "Content-Range"]
}

/// Which responses are stored, and what a request makes invalid (RFC 9111, 3 and 4.4).
package enum CacheRules {
    /// Whether a response is stored. Redirects are not: sessions follow them, and store what they lead to.
    package static func mayStore(_ query: CacheQuery, status: Int, fields: [HeaderField]) -> Bool {
        let (asked, answered) = (CacheControl(query.fields), CacheControl(fields))
        let selecting = names(of: "Vary", in: fields)
        guard !query.isHead, !query.isConditional, status >= 200, !unstored.contains(status), !asked.noStore,
            !answered.noStore, !selecting.contains("*"), selecting.count <= selectingLimit
        else { return false }
        return CachedResponse.heuristic.contains(status) || answered.maximumAge != nil || answered.isPublic
            || fields.contains { $0.isNamed("Expires") }
    }

    /// The most names in `Vary`: each costs memory, and time in each lookup.
    private static let selectingLimit = 64

    /// Parts, confirmations and redirects.
    private static let unstored: Set<Int> = [206, 304, 301, 302, 303, 307, 308]

    /// The values of the request by which a response was selected. Cookies say who asks, unless the server says that
    /// the response is for everybody.
    package static func selecting(_ query: CacheQuery, by fields: [HeaderField]) -> [String: String?] {
        let implied = CacheControl(fields).isPublic ? [] : ["cookie"]
        return names(of: "Vary", in: fields).union(implied).reduce(into: [:]) {
            $0.updateValue(query.digest(of: $1), forKey: $1)
        }
    }

    /// The fields without those that are about the connection (RFC 9111, 3.1).
    package static func storable(_ fields: [HeaderField]) -> [HeaderField] {
        let named = names(of: "Connection", in: fields)
        return fields.filter { !hopByHop.contains($0.name.lowercased()) && !named.contains($0.name.lowercased()) }
    }

    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authentication-info",
        "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Whether an answer to this method means that stored responses no longer hold.
    package static func invalidates(_ method: String, status: Int) -> Bool {
        200..<400 ~= status && !["GET", "HEAD", "OPTIONS", "TRACE"].contains(method)
    }

    /// The names that a field lists, in lower case.
    private static func names(of name: String, in fields: [HeaderField]) -> Set<String> {
        Set(
            fields.filter { $0.isNamed(name) }.flatMap {
                $0.value.splitScalars { $0 == "," || $0 == " " || $0 == "\t" }
            }
            .map { $0.lowercased() })
    }
}
