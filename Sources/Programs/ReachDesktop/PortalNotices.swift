package import ReachCore
internal import ReachPage

/// What a notification says of a portal.
package struct PortalNotice: Hashable, Sendable {
    /// The page that the button opens; `nil` where the network does not tell it.
    package var page: PortalPage?
    package var interface: String?

    package init(page: PortalPage?, interface: String?) { (self.page, self.interface) = (page, interface) }

    package static let title = "This network wants a login"

    /// - Parameter readsMarkup: Whether the server of notifications reads the text as markup.
    package func body(readsMarkup: Bool) -> String {
        var text = interface.map { "Behind \($0) there is a portal. " } ?? "There is a portal. "
        if let page {
            text +=
                "Its page is at \(page.origin). The network chose this address: give it no password that you use "
                + "elsewhere."
        } else {
            text += "It does not say where its page is: any page by http:// leads there."
        }
        return readsMarkup ? HTMLPage.escaped(text) : DisplayText.sanitized(text)
    }

    package var buttonLabel: String { "Open the login page" }
}

/// Decides when a notification about a portal is shown and withdrawn: one for each time that a network holds the
/// machine back.
package struct PortalNotices: Sendable {
    package enum Action: Hashable, Sendable {
        /// Shows the notification, in place of an earlier one that is still shown.
        case show(PortalNotice)
        case withdraw
    }

    /// What was shown last; `nil` where there is no portal.
    package private(set) var current: PortalNotice?

    package init() {}

    package mutating func handle(_ state: ReachabilityState) -> Action? {
        // Not to be able to observe says nothing of the portal.
        if state.status == .unknown || state.isStale { return nil }
        guard state.isReachable, state.connectivity == .portal else {
            defer { current = nil }
            return current == nil ? nil : .withdraw
        }
        let page = (state.portal ?? state.portalSession?.userPortalURL).flatMap { PortalPage($0) }
        let notice = PortalNotice(page: page ?? current?.page, interface: state.interface)
        defer { current = notice }
        // Portals make a page of its own for each check; the text names only its origin.
        let isSame = current?.page?.origin == notice.page?.origin && current?.interface == notice.interface
        return current != nil && isSame ? nil : .show(notice)
    }
}

/// The address of a portal's page that may be opened: of http or https, with a host and nothing that hides it.
///
/// Whoever runs the network chose the text. It becomes an argument of a program and a part of a notification.
package struct PortalPage: Hashable, Sendable {
    package let text: String
    /// Scheme, host and port: what a person has to look at.
    package let origin: String

    package static let longest = 2048

    /// - Returns: `nil` for any other text, such as one with a name and password, which look like the host.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy(Self.isOfURL) else { return nil }
        let pieces = URLPieces(text)
        guard let scheme = pieces.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let authority = pieces.authority, authority.userInformation == nil, Self.isHost(authority.host),
            case .some(let port) = authority.portNumber,
            pieces.path.isEmpty || pieces.path.utf8.first == UInt8(ascii: "/")
        else { return nil }
        self.text = text
        origin = scheme + "://" + authority.host.lowercased() + (port.map { ":\($0)" } ?? "")
    }

    /// Whether a URL may have the byte (RFC 3986, appendix A).
    private static func isOfURL(_ byte: UInt8) -> Bool {
        0x21...0x7e ~= byte && !"\"<>\\^`{|}".utf8.contains(byte)
    }

    private static func isHost(_ host: Substring) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") {
            return host.utf8.last == UInt8(ascii: "]")
                && IPAddress(String(host.dropFirst().dropLast()))?.family == .ipv6
        }
        return !host.isEmpty && host.utf8.count <= 255
            && host.utf8.allSatisfy { byte in
                0x30...0x39 ~= byte || 0x61...0x7a ~= byte | 0x20 || "-._".utf8.contains(byte)
            }
    }
}
