internal import ReachCore

/// What to do with a redirect.
package enum RedirectPolicy: Hashable, Sendable {
    /// A redirect is a response like any other.
    case none
    /// Up to `limit` redirects are followed, to http and https only. The handler decides about each.
    ///
    /// No redirect leads to another origin where there are pins, or from https to http. Authorization, Cookie and
    /// Proxy-Authorization are sent only to the origin that they were meant for.
    case follow(limit: Int)
}

/// A redirect that the handler decides about.
package struct Redirect: Hashable, Sendable {
    package let status: Int
    package let from: TransferURL
    package let to: TransferURL
    /// The method of the next request: 303 makes it GET, 301 and 302 make a POST one (RFC 9110 section 15.4).
    package let method: String

    /// More than servers accept, mostly 8,000 bytes (RFC 9110 section 4.1). Each redirect takes time in proportion.
    static let longestURL = 16384

    package init(status: Int, from: TransferURL, to: TransferURL, method: String) {
        self.status = status
        self.from = from
        self.to = to
        self.method = method
    }

    /// The same redirect with another method; `nil` if that is no method.
    package func with(method: String) -> Redirect? {
        guard RequestFieldFault.isToken(method), method != "CONNECT" else { return nil }
        return Redirect(status: status, from: from, to: to, method: method)
    }
}
