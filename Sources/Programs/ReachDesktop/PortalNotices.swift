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
                "Its page is at \(page.origin). The network chose this address: give it no password that you use elsewhere."
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
