/// What to do with a redirect.
package enum RedirectPolicy: Hashable, Sendable {
    /// It is a response like any other.
    case none
    /// Up to so many are followed, to http and https only. The handler is asked about each.
    ///
    /// Never with pins to another origin, and never from https to http. Authorization, Cookie and
    /// Proxy-Authorization go only to the origin they were meant for.
    case follow(limit: Int)
}

/// A redirect that the handler is asked about.
package struct Redirect: Hashable, Sendable {
    package let status: Int
    package let from: TransferURL
    package let to: TransferURL
    /// The method of the next request: 303 makes it GET, 301 and 302 make a POST one (RFC 9110 section 15.4).
    package let method: String

    package init(status: Int, from: TransferURL, to: TransferURL, method: String) {
        self.status = status
        self.from = from
        self.to = to
        self.method = method
    }
}
