internal import ReachControl
internal import ReachCore
internal import ReachDesktop
internal import ReachTerminal

/// Shows the notifications about portals in a user's session (the Desktop Notifications Specification), and opens the
/// page when the user asks for it.
final class PortalNotifier {
    private let bus: BusConnection
    private var notices = PortalNotices()
    /// The number of the notification that is shown.
    private var shown: UInt32?
    /// Who showed it, and alone may say what became of it.
    private var server: String?
    private var hasComplained = false

    private static let service = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"

    init(bus: BusConnection) throws(DesktopError) {
        self.bus = bus
        let rule = "sender='\(Self.service)',path='\(Self.path)',interface='\(Self.service)',member="
        let server = { [unowned self] in self.server }
        try bus.match(rule + "'ActionInvoked'", from: server) { [unowned self] message in
            guard let number = message.uint32(), number == shown, message.text() != nil else { return }
            if let page = notices.current?.page { PageOpener.open(page) }
        }
        try bus.match(rule + "'NotificationClosed'", from: server) { [unowned self] message in
            if let number = message.uint32(), number == shown { shown = nil }
        }
    }

    func handle(_ event: StreamEvent) {
        guard let state = event.state, let action = notices.handle(state) else { return }
        switch action {
        case .show(let notice): show(notice)
        case .withdraw: withdraw()
        }
    }

    func withdraw() {
        guard let number = shown else { return }
        shown = nil
        _ = try? bus.call(Self.service, Self.path, Self.service, "CloseNotification", [.uint32(number)])
    }

    private func show(_ notice: PortalNotice) {
        do throws(DesktopError) {
            // Asked each time: another server may have come.
            let capabilities = try bus.call(Self.service, Self.path, Self.service, "GetCapabilities", []).texts() ?? []
            let hasButton = notice.page != nil && capabilities.contains { $0 == "actions" }
            let actions = hasButton ? ["default", notice.buttonLabel, "open", notice.buttonLabel] : []
            let arguments: [BusValue] = [
                .string("reach"), .uint32(shown ?? 0), .string("network-wireless"), .string(PortalNotice.title),
                .string(notice.body(readsMarkup: capabilities.contains { $0 == "body-markup" })), .strings(actions),
                .properties(["category": .string("network")]), .int32(0),
            ]
            // The bus leads the call to the name's owner, so the answer's sender is the owner.
            let answer = try bus.call(Self.service, Self.path, Self.service, "Notify", arguments)
            (shown, server) = (answer.uint32(), answer.sender)
            hasComplained = false
        } catch {
            guard !hasComplained else { return }
            hasComplained = true
            StandardError.write(
                "reach-desktop: no notification could be shown: \(DisplayText.sanitized(error.message))\n")
        }
    }
}
