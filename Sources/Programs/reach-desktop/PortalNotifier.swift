internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachDesktop
internal import ReachLoop
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
    /// Whether the last notification could not be shown, which was said.
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
        // At login the server may come later than the portal.
        let owner =
            "sender='\(BusConnection.driver)',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
            + "arg0='\(Self.service)'"
        try bus.match(owner, from: { BusConnection.driver }) { [unowned self] message in
            let (_, _, new) = (message.text(), message.text(), message.text())
            if hasComplained, new?.isEmpty == false, let notice = notices.current { show(notice) }
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

/// Opens a page in the user's browser, by xdg-open and without a shell.
enum PageOpener {
    static func open(_ page: PortalPage) {
        // The kernel collects the children.
        signal(SIGCHLD, SIG_IGN)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The browser gets the signals as if a shell had started it, and a process group of its own.
        var none = sigset_t()
        sigemptyset(&none)
        var usual = sigset_t()
        sigemptyset(&usual)
        for signal in [SIGCHLD, SIGPIPE] { sigaddset(&usual, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var child = pid_t()
        // The address begins with its scheme, so that it is no option.
        let number = CStrings.with(["xdg-open", page.text]) {
            posix_spawnp(&child, "xdg-open", nil, &attributes, $0, environ)
        }
        if number != 0 {
            StandardError.write("reach-desktop: xdg-open cannot be started: \(SystemError.text(number))\n")
        }
    }
}
