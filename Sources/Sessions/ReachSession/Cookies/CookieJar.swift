internal import ReachCore

/// The cookies of one session, and the rules by which they are stored and sent (RFC 6265, 5.3 and 5.4, with the
/// prefixes and the protection of secure cookies of draft-ietf-httpbis-rfc6265bis): a value.
package struct CookieJar {
    /// The most that a jar holds. What was not used for longest goes first.
    package struct Limits: Hashable, Sendable {
        /// Cookies in all, and of one domain: the least numbers that RFC 6265 (6.1) asks for.
        package var cookies = 3000
        package var cookiesOfDomain = 50
        /// Bytes in all, and of one domain: a domain may have 50 cookies of the longest kind.
        package var bytes = 4 << 20
        package var bytesOfDomain = 256 << 10

        package init() {}
    }

    /// Whether a name is a public suffix such as `co.uk`, below which anyone can have a host.
    package typealias SuffixRule = @Sendable (String) -> SuffixAnswer

    package enum SuffixAnswer: Hashable, Sendable {
        case isPublic
        case isPrivate
        /// There is no list.
        case unknown
    }

    private struct Held {
        var cookie: Cookie
        /// The order of creation, which replacing a cookie keeps.
        var created: UInt64
        var used: UInt64
    }

    package let limits: Limits
    private var domains: [String: [Held]] = [:]
    private var lastNumber: UInt64 = 0
    package private(set) var count = 0
    package private(set) var bytes = 0

    package init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: - Storing

    /// Stores a cookie that a server set, or removes the one that it replaces, if it may set it.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    package mutating func store(
        _ field: SetCookieField, from origin: CookieOrigin, at now: Timestamp, suffixes: SuffixRule
    ) -> Bool {
        guard let (domain, isHostOnly) = Self.domain(of: field, from: origin, suffixes) else { return false }
        let path = field.path ?? origin.defaultPath
        guard origin.isSecure || !field.isSecure, Self.keepsPromise(field, isHostOnly) else { return false }
        guard origin.isSecure || !hidesSecure(field.name, path, from: origin) else { return false }
        return store(
            Cookie(
                name: field.name, value: field.value, domain: domain, path: path,
                expires: Self.expiry(of: field, at: now), isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly,
                isHostOnly: isHostOnly),
            at: now)
    }

    /// Stores a cookie, or removes it if it has expired.
    ///
    /// - Returns: Whether anything changed.
    @discardableResult
    package mutating func store(_ cookie: Cookie, at now: Timestamp) -> Bool {
        let earlier = domains[cookie.domain]?.first { Self.isSame($0.cookie, cookie) }
        if cookie.hasExpired(at: now) {
            if earlier != nil { remove { Self.isSame($0, cookie) } }
            return earlier != nil
        }
        guard earlier?.cookie != cookie else { return false }
        if earlier != nil { remove { Self.isSame($0, cookie) } }
        lastNumber += 1
        let held = Held(cookie: cookie, created: earlier?.created ?? lastNumber, used: lastNumber)
        domains[cookie.domain, default: []].append(held)
        count += 1
        bytes += cookie.bytes
        shrink(cookie.domain, at: now)
        return true
    }

    /// The domain for which a cookie is stored, and whether for that host only. `nil` refuses it.
    ///
    /// A domain that is a public suffix would send the cookie to strangers' hosts. Without a list of such domains the
    /// cookie is kept for the host that set it: that sends too little, and never too much.
    private static func domain(
        of field: SetCookieField, from origin: CookieOrigin, _ suffixes: SuffixRule
    ) -> (String, isHostOnly: Bool)? {
        guard let domain = field.domain else { return (origin.host, true) }
        guard origin.isWithin(domain: domain) else { return nil }
        if origin.isAddress { return (origin.host, true) }
        return switch suffixes(domain) {
        case .isPrivate: (domain, false)
        case .isPublic: domain == origin.host ? (domain, true) : nil
        case .unknown: (origin.host, true)
        }
    }

    /// Whether a cookie has what its prefix promises.
    private static func keepsPromise(_ field: SetCookieField, _ isHostOnly: Bool) -> Bool {
        let name = field.name.lowercased()
        if name.hasUTF8Prefix("__secure-") { return field.isSecure }
        guard name.hasUTF8Prefix("__host-") else { return true }
        return field.isSecure && isHostOnly && field.domain == nil && field.path == "/"
    }

    /// Whether a cookie that came in the clear would stand in the place of a secure one, or before it.
    private func hidesSecure(_ name: String, _ path: String, from origin: CookieOrigin) -> Bool {
        let other = CookieOrigin(host: origin.host, path: path)
        return domains.contains { domain, held in
            guard origin.isWithin(domain: domain) || domain.hasUTF8Suffix("." + origin.host) else { return false }
            return held.contains {
                $0.cookie.isSecure && $0.cookie.name == name && other.isBelow(path: $0.cookie.path)
            }
        }
    }

    /// The longest life of a cookie: 400 days (draft-ietf-httpbis-rfc6265bis, 5.6).
    private static let longestLife: Int64 = 400 * 86_400

    private static func expiry(of field: SetCookieField, at now: Timestamp) -> Timestamp? {
        let latest = Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 + longestLife * 1_000_000_000)
        guard let age = field.maximumAge else { return field.expires.map { min($0, latest) } }
        guard age > 0 else { return Timestamp(nanosecondsSince1970: 0) }
        return Timestamp(nanosecondsSince1970: now.nanosecondsSince1970 + min(age, longestLife) * 1_000_000_000)
    }

    private static func isSame(_ one: Cookie, _ other: Cookie) -> Bool {
        one.name == other.name && one.domain == other.domain && one.path == other.path
    }

    // MARK: - Sending

    /// The most that is sent with one request: more than a server reads would make every request fail. libcurl has the
    /// same limits.
    private static let sentCookies = 150
    private static let sentBytes = 8190

    /// The cookies to send, in order: longer paths first, then the older ones.
    package mutating func cookies(for origin: CookieOrigin, at now: Timestamp) -> [Cookie] {
        var found: [Held] = []
        for domain in Self.domains(of: origin) {
            guard let held = domains[domain] else { continue }
            for index in held.indices where Self.isSent(held[index].cookie, origin, at: now) {
                lastNumber += 1
                domains[domain]?[index].used = lastNumber
                found.append(held[index])
            }
        }
        found.sort {
            let (left, right) = ($0.cookie.path.utf8.count, $1.cookie.path.utf8.count)
            return left != right ? left > right : $0.created < $1.created
        }
        return found.map(\.cookie)
    }

    /// The value of the Cookie field; `nil` where there is nothing to send.
    package mutating func header(for origin: CookieOrigin, at now: Timestamp) -> String? {
        guard count > 0 else { return nil }
        var text = ""
        for cookie in cookies(for: origin, at: now).prefix(Self.sentCookies) {
            let pair = (text.isEmpty ? "" : "; ") + cookie.name + "=" + cookie.value
            guard text.utf8.count + pair.utf8.count <= Self.sentBytes else { break }
            text += pair
        }
        return text.isEmpty ? nil : text
    }

    /// The host, and the domains above it.
    private static func domains(of origin: CookieOrigin) -> [String] {
        var names = [origin.host]
        guard !origin.isAddress else { return names }
        var rest = origin.host[...]
        while let dot = rest.unicodeScalars.firstIndex(of: ".") {
            rest = rest[rest.unicodeScalars.index(after: dot)...]
            names.append(String(rest))
        }
        return names
    }

    private static func isSent(_ cookie: Cookie, _ origin: CookieOrigin, at now: Timestamp) -> Bool {
        (!cookie.isHostOnly || cookie.domain == origin.host) && (!cookie.isSecure || origin.isSecure)
            && origin.isBelow(path: cookie.path) && !cookie.hasExpired(at: now)
    }

    // MARK: - Listing and removing

    /// All cookies that have not expired, by their age.
    package func all(at now: Timestamp) -> [Cookie] {
        domains.values.joined().filter { !$0.cookie.hasExpired(at: now) }.sorted { $0.created < $1.created }
            .map(\.cookie)
    }

    /// Removes cookies.
    ///
    /// - Returns: Whether there were any.
    @discardableResult
    package mutating func remove(where isUnwanted: (Cookie) -> Bool) -> Bool {
        let before = count
        for domain in domains.keys.map(\.self) { remove(in: domain) { isUnwanted($0.cookie) } }
        return count != before
    }

    private mutating func remove(in domain: String, where isUnwanted: (Held) -> Bool) {
        guard let held = domains[domain] else { return }
        let kept = held.filter { !isUnwanted($0) }
        guard kept.count < held.count else { return }
        count -= held.count - kept.count
        bytes -= held.reduce(0) { $0 + $1.cookie.bytes } - kept.reduce(0) { $0 + $1.cookie.bytes }
        domains[domain] = kept.isEmpty ? nil : kept
    }

    // MARK: - Limits

    private mutating func shrink(_ domain: String, at now: Timestamp) {
        while let held = domains[domain],
            held.count > limits.cookiesOfDomain || held.reduce(0, { $0 + $1.cookie.bytes }) > limits.bytesOfDomain
        {
            removeFirst(of: held, in: [domain], at: now)
        }
        while count > limits.cookies || bytes > limits.bytes {
            removeFirst(of: domains.values.flatMap(\.self), in: domains.keys.map(\.self), at: now)
        }
    }

    /// Removes the expired cookies, or without any the one that was not used for longest; of one domain an insecure one
    /// first, so that http cannot push out what https set.
    private mutating func removeFirst(of held: [Held], in names: [String], at now: Timestamp) {
        if held.contains(where: { $0.cookie.hasExpired(at: now) }) {
            for name in names { remove(in: name) { $0.cookie.hasExpired(at: now) } }
            return
        }
        let insecure = names.count == 1 ? held.filter { !$0.cookie.isSecure } : []
        guard let oldest = (insecure.isEmpty ? held : insecure).min(by: { $0.used < $1.used }) else { return }
        remove(in: oldest.cookie.domain) { $0.used == oldest.used && Self.isSame($0.cookie, oldest.cookie) }
    }
}
