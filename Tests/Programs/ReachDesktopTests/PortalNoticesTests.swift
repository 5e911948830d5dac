internal import ReachCore
internal import ReachDesktop
internal import Testing

@Suite struct PortalNoticesTests {
    @Test(arguments: [
        ("http://login.example/?from=here", "http://login.example"),
        ("HTTPS://Login.Example:8443/a%20b#c", "https://login.example:8443"), ("http://192.0.2.1", "http://192.0.2.1"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443"),
    ])
    func `a page of http or https may be opened`(text: String, origin: String) {
        #expect(PortalPage(text)?.text == text)
        #expect(PortalPage(text)?.origin == origin)
    }

    @Test(arguments: [
        "", "login.example", "/etc/passwd", "file:///etc/passwd", "javascript:alert(1)", "--help", "-http://a/",
        "http:/login.example", "http:login.example", "http:///path", "http://?x", "ftp://login.example/",
        "http://bank.example@login.example/", "http://bank.example:pw@login.example/", "http://a\\@b/", "http://a b/",
        "http://a/\u{1b}[2J", "http://a/\nSubject: x", "http://a/\u{202e}moc", "http://b\u{e4}nk.example/",
        "http://a;reboot/", "http://$(reboot)/", "http://a:99999/", "http://[::1/", "http://[a]/", "http://a\"b/",
        "http://a/<b>", "http://a/`reboot`", "http://a/{x|y}",
        "http://" + String(repeating: "a", count: 2048), "smb://login.example/share",
    ])
    func `nothing else is`(text: String) {
        #expect(PortalPage(text) == nil)
    }

    private func portal(_ page: String?, _ interface: String = "wlan0") -> ReachabilityState {
        var state = Sample.reachable(by: Sample.path(interface, 3, .wifi), .portal)
        state.portal = page
        return state
    }

    @Test func `a portal is announced once, however often it names another page of its own`() {
        var notices = PortalNotices()
        let page = "http://login.example/?session=1"
        #expect(notices.handle(portal(page)) == .show(PortalNotice(page: PortalPage(page), interface: "wlan0")))
        #expect(notices.handle(portal("http://login.example/?session=2")) == nil)
        #expect(notices.current?.page?.text == "http://login.example/?session=2")
        #expect(notices.handle(Sample.reachable()) == .withdraw)
        #expect(notices.handle(Sample.reachable()) == nil)
        #expect(notices.handle(portal(page)) != nil, "a later one is announced again")
    }

    @Test func `another host than the one that was shown is shown before the button opens it`() {
        var notices = PortalNotices()
        _ = notices.handle(portal("http://login.example/"))
        let other = PortalNotice(page: PortalPage("http://evil.example/"), interface: "wlan0")
        #expect(notices.handle(portal("http://evil.example/")) == .show(other))
    }

    @Test func `a page that becomes known later, or is no page, changes what is shown`() {
        var notices = PortalNotices()
        #expect(notices.handle(portal("javascript:alert(1)")) == .show(PortalNotice(page: nil, interface: "wlan0")))
        #expect(notices.handle(portal("http://login.example/")) != nil)
        #expect(notices.handle(portal(nil)) == nil, "the page that is shown stays")
    }

    @Test func `a stale or unknown state neither announces nor withdraws`() {
        var notices = PortalNotices()
        var stale = portal("http://login.example/")
        stale.isStale = true
        #expect(notices.handle(stale) == nil)
        _ = notices.handle(portal("http://login.example/"))
        #expect(notices.handle(Sample.unknown()) == nil)
        #expect(notices.current != nil)
        #expect(notices.handle(Sample.lost(.noCarrier)) == .withdraw)
    }

    @Test func `what the network chose is no markup and no control character`() {
        let notice = PortalNotice(page: PortalPage("http://login.example/?b"), interface: "<a href='x'>\u{1b}&")
        let marked = notice.body(readsMarkup: true)
        #expect(!marked.contains("<") && marked.contains("&lt;a href=&#39;x&#39;&gt;") && !marked.contains("\u{1b}"))
        let plain = notice.body(readsMarkup: false)
        #expect(plain.contains("<a href='x'>") && !plain.contains("\u{1b}"))
        #expect(plain.contains("http://login.example. "))
    }
}
