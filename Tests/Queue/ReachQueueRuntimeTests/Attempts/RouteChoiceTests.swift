import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// The ways of attempts, asked of a real engine on a machine with two links, where answers are remembered for the
/// attempts that follow.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"), .timeLimit(.minutes(1)))
struct RouteChoiceTests {
    /// Sends what it is told to by a proxy, and follows redirects.
    private final class Host: AttemptHost, Sendable {
        private let proxy: TransferProxy

        init(proxy: TransferProxy = .none) { self.proxy = proxy }

        func prepare(_ transfer: inout TransferRequest, of id: RequestID) { transfer.proxy = proxy }

        func received(_ head: ResponseHead, to sent: TransferRequest, of id: RequestID) -> String? { nil }

        func next(after report: TransferReport, to sent: TransferRequest, of id: RequestID) -> TransferRequest? {
            guard let location = report.response?["location"], let url = try? TransferURL(location) else { return nil }
            var next = sent
            next.url = url
            return next
        }

        func ended(_ report: inout TransferReport, sent: TransferRequest, of id: RequestID) {}

        func proxy(for url: TransferURL) -> TransferProxy { proxy }
    }

    private func sources(of urls: [String], in scene: RouteScene) async throws -> [String] {
        let requests = try urls.map { try QueuedRequest(RequestSpecification(method: "GET", url: $0)) }
        var sources: [String] = []
        for id in try await scene.room.add(requests) { sources.append(try await scene.answer(to: id)) }
        return sources
    }

    @Test func `requests that begin together go by the links of their own hosts, before and after a route differs`()
        async throws
    {
        let scene = try RouteScene(defaults: ["mob0"])
        let urls = (0..<6).map { $0 % 2 == 0 ? RouteScene.intranet : RouteScene.internet }
        for _ in 0..<2 {
            #expect(
                try await sources(of: urls, in: scene)
                    == urls.map { $0 == RouteScene.intranet ? RouteScene.lan : RouteScene.mobile })
            // What was remembered of either host is void at once.
            try scene.ip("route add 203.0.113.10 via 192.0.2.1")
            #expect(try await sources(of: urls, in: scene) == urls.map { _ in RouteScene.lan })
            try scene.ip("route del 203.0.113.10 via 192.0.2.1")
        }
    }

    @Test(arguments: ["uidrange 0-4294967294", "to 203.0.113.0/24", "ipproto tcp dport 80"])
    func `a request goes where the kernel's rules send it, whatever metric the main table has`(rule: String)
        async throws
    {
        let scene = try RouteScene(defaults: ["lan0"], hosts: ["api.example.org": ["203.0.113.10"]])
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.lan)
        try scene.ip("route add default via 198.51.100.1 dev mob0 table 100 metric 700")
        try scene.ip("rule add pref 500 \(rule) lookup 100")
        for url in [RouteScene.internet, "http://api.example.org/x"] {
            #expect(try await scene.source(of: url) == RouteScene.mobile, "\(url)")
        }
        // The condition allows another way only where no rule is for this host.
        if rule.hasPrefix("uid") {
            #expect(try await scene.source(of: RouteScene.internet, when: "wifi") == RouteScene.lan)
        }
    }

    @Test func `each address is reached by the next hop that the kernel chooses for it`() async throws {
        let scene = try RouteScene()
        for host in 20...31 {
            try scene.links.internet.run("ip", "address", "add", "203.0.113.\(host)/32", "dev", "lo")
        }
        try scene.ip("route add default nexthop via 192.0.2.1 nexthop via 198.51.100.1")
        var used: Set<String> = []
        for host in 20...31 {
            let told = try scene.links.machine.run("ip", "route", "get", "203.0.113.\(host)")
            let source = told.contains("dev lan0") ? RouteScene.lan : RouteScene.mobile
            #expect(try await scene.source(of: "http://203.0.113.\(host)/x") == source)
            used.insert(source)
        }
        #expect(used == [RouteScene.lan, RouteScene.mobile])
    }

    @Test func `a request waits while the proxy of all requests wants other credentials, and says so`() async throws {
        let proxy = try TransferURL(proxy: "http://203.0.113.10:80")
        let scene = try RouteScene(defaults: ["lan0"], listeners: "listen 80; return 407;") {
            $0.attempts.proxies = TransferProxies(http: proxy)
        }
        let id = try await scene.room.add("http://api.example.org/x", method: "POST")
        let retry = try await scene.room.wait(for: .retrying, of: id)
        #expect(retry.event.reason == "network")
        let text = await scene.room.explain(id)?.reasons.first?.text
        #expect(text?.contains("(the proxy wants other credentials)") == true)
        #expect(await scene.room.explain(id)?.attempts == 0)
    }

    @Test func `a request through a proxy goes by the proxy's route, and one without by its host's`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        let host = Host(proxy: .explicit(try TransferURL(proxy: "http://192.0.2.1:80")))
        for (chosen, source) in [(host, RouteScene.lan), (nil, RouteScene.mobile), (host, RouteScene.lan)] {
            scene.room.perform { $0.queue.host = chosen }
            #expect(try await scene.source(of: RouteScene.internet) == source)
        }
        withExtendedLifetime(host) {}
    }

    @Test func `after a redirect the other host's route counts, and for the next request its own again`() async throws {
        let scene = try RouteScene(
            defaults: ["mob0"], listeners: "listen 80; location = /away { return 302 \(RouteScene.intranet); }")
        let host = Host()
        scene.room.perform { $0.queue.host = host }
        for _ in 0..<2 {
            #expect(try await scene.source(of: "http://203.0.113.10/away") == RouteScene.lan)
            #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
        }
        // The queue holds it weakly.
        withExtendedLifetime(host) {}
    }
}
