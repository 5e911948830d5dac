import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// The ways of attempts, asked of a real engine on a machine with two links, where answers are remembered for the attempts
/// that follow.
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
