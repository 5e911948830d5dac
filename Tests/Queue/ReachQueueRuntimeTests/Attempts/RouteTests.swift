import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Requests follow the kernel's routes to their own destinations, on a machine with two links.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"), .timeLimit(.minutes(2)))
struct RouteTests {
    @Test func `a host on the link is reached without a path to the Internet, which others wait for`() async throws {
        let scene = try RouteScene()
        let other = try await scene.room.add(RouteScene.internet)
        #expect(try await scene.source(of: RouteScene.intranet) == RouteScene.lan)
        #expect(try await scene.blockers(of: other) == [.path])
        // The modem brings the Internet.
        try scene.links.bring(up: "mob0")
        #expect(try await scene.answer(to: other) == RouteScene.mobile)
    }

    @Test func `a host on the link is never sent to by the link that brings the Internet`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        let before = try scene.links.packetsSent(by: "mob0")
        for _ in 0..<3 { #expect(try await scene.source(of: RouteScene.intranet) == RouteScene.lan) }
        #expect(try scene.links.packetsSent(by: "mob0") == before)
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
    }

    @Test func `a more specific route goes before a default route, as behind a split VPN`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        try scene.ip("route add 203.0.113.0/24 via 192.0.2.1 dev lan0")
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.lan)
        try scene.ip("route del 203.0.113.0/24 via 192.0.2.1 dev lan0")
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
    }

    @Test func `the halves of a default route are one, and a request may ask for another link`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        for half in ["0.0.0.0/1", "128.0.0.0/1"] { try scene.ip("route add \(half) via 192.0.2.1 dev lan0") }
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.lan)
        #expect(try await scene.source(of: RouteScene.internet, when: "wwan") == RouteScene.mobile)
    }

    @Test func `a rule that chooses another table for an address is a route of its own`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        try scene.ip("route add default via 192.0.2.1 dev lan0 table 100")
        try scene.ip("rule add to 203.0.113.10 lookup 100")
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.lan)
    }

    @Test(.enabled(if: RouteScene.hasVRF, "this kernel has no VRFs"))
    func `a host in a VRF that a rule leads to is reached there`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        try scene.ip("link add blue type vrf table 100")
        try scene.ip("link set blue up")
        try scene.ip("link set lan0 master blue")
        try scene.ip("rule add to 192.0.2.0/24 lookup 100")
        #expect(try await scene.source(of: RouteScene.intranet) == RouteScene.lan)
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
    }

    // The kernel keeps a gateway as failed until something is sent to it, and nothing but the queue sends here.
    @Test func `a request is sent once its gateway answers again, though nothing else asks the gateway`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
        try scene.ip("neigh replace 198.51.100.1 dev mob0 nud failed")
        try await scene.room.changes.wait { changes in changes.contains { $0.state.reason == .gatewayUnreachable } }
        #expect(try await scene.source(of: RouteScene.internet) == RouteScene.mobile)
    }

    @Test func `what a route forbids is sent nowhere else`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        try scene.ip("route add unreachable 203.0.113.10")
        let before = try scene.links.packetsSent(by: "mob0")
        let id = try await scene.room.add(RouteScene.internet)
        #expect(try await scene.blockers(of: id) == [.path])
        #expect(try scene.links.packetsSent(by: "mob0") == before)
        try scene.ip("route del unreachable 203.0.113.10")
        #expect(try await scene.answer(to: id) == RouteScene.mobile)
    }

    @Test func `a condition is that of the path that the request would take`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        let before = try scene.links.packetsSent(by: "lan0")
        let id = try await scene.room.add(RouteScene.intranet, when: "wwan")
        #expect(try await scene.blockers(of: id) == [.linkClass])
        let text = try #require(await scene.room.explain(id)).reasons[0].text
        #expect(text == "The path to http://192.0.2.1:80, by lan0, does not satisfy 'wwan'.")
        #expect(try scene.links.packetsSent(by: "lan0") == before)
        #expect(try await scene.source(of: RouteScene.intranet, when: "wifi, unmetered") == RouteScene.lan)
    }

    @Test func `this machine always has a path, also with no link up`() async throws {
        let scene = try RouteScene()
        for name in ["lan0", "mob0"] { try scene.links.take(down: name) }
        let server = try ScriptedServer(in: scene.links.machine, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlocal")
        }
        for host in ["127.0.0.1", "localhost"] {
            #expect(try await scene.source(of: "http://\(host)/") == "local")
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a link-local address is reached by the link of its zone`() async throws {
        let scene = try RouteScene(defaults: ["mob0"])
        for (name, number) in [("lan0", 1), ("mob0", 2)] {
            try scene.ip("address add fe80::\(number)1/64 dev \(name) nodad")
            try scene.links.internet.run("ip", "address", "add", "fe80::1/64", "dev", name, "nodad")
        }
        #expect(try await scene.source(of: "http://[fe80::1%25lan0]/") == "fe80::11")
        #expect(try await scene.source(of: "http://[fe80::1%25mob0]/") == "fe80::21")
    }

    // MARK: Names

    @Test func `a name of an intranet is resolved and reached without the Internet`() async throws {
        let scene = try RouteScene(hosts: ["printer.example": ["192.0.2.1"], "web.example": ["203.0.113.10"]])
        let other = try await scene.room.add("http://web.example/")
        #expect(try await scene.source(of: "http://printer.example/") == RouteScene.lan)
        #expect(try await scene.blockers(of: other) == [.path])
        try scene.links.bring(up: "mob0")
        #expect(try await scene.answer(to: other) == RouteScene.mobile)
    }

    @Test func `a name that no name server resolves waits, and says so`() async throws {
        let scene = try RouteScene()
        let id = try await scene.room.add("http://nowhere.example/")
        #expect(try await scene.blockers(of: id) == [.path, .name])
    }

    @Test func `a name of a host on the link goes by no default route`() async throws {
        let scene = try RouteScene(defaults: ["mob0"], hosts: ["printer.example": ["192.0.2.1"]])
        let before = try scene.links.packetsSent(by: "mob0")
        for _ in 0..<3 { #expect(try await scene.source(of: "http://printer.example/") == RouteScene.lan) }
        #expect(try scene.links.packetsSent(by: "mob0") == before)
        // By now it is known where it is.
        let id = try await scene.room.add("http://printer.example/", when: "wwan")
        #expect(try await scene.blockers(of: id).contains(.linkClass))
    }

    @Test func `of a name's addresses each is reached by its own route`() async throws {
        let both = ["192.0.2.1", "203.0.113.10"]
        let first = try RouteScene(defaults: ["mob0"], hosts: ["both.example": both])
        #expect(try await first.source(of: "http://both.example/") == RouteScene.lan)
        #expect(try await first.source(of: "http://both.example/", when: "wwan") == RouteScene.mobile)
        // Nothing listens at the first.
        let second = try RouteScene(
            defaults: ["mob0"], hosts: ["both.example": both], listeners: "listen 203.0.113.10:80;")
        #expect(try await second.source(of: "http://both.example/") == RouteScene.mobile)
    }

    @Test func `of a name's families each is reached by its own route`() async throws {
        let hosts = ["both.example": ["2001:db8::1", "203.0.113.10"], "six.example": ["2001:db8::1"]]
        let scene = try RouteScene(defaults: ["mob0"], hosts: hosts)
        try scene.ip("address add 2001:db8::2/64 dev lan0 nodad")
        try scene.links.internet.run("ip", "address", "add", "2001:db8::1/64", "dev", "lan0", "nodad")
        #expect(try await scene.source(of: "http://six.example/") == "2001:db8::2")
        #expect(try await scene.source(of: "http://both.example/") == "2001:db8::2")
        #expect(try await scene.source(of: "http://both.example/", when: "family=4") == RouteScene.mobile)
    }

    @Test(.enabled(if: NameServer.isAvailable, "\(NameServer.whyNot)"))
    func `a name server of the intranet is asked by its own route, while another link has the Internet`() async throws {
        let scene = try RouteScene(defaults: ["mob0"]) { options in
            let server = ResolverConfiguration.Server(IPAddress(ipv4: 0xc000_0201))
            options.transfers.resolver.configuration = ResolverConfiguration(servers: [server])
        }
        let names = try NameServer(
            ["--address=/printer.example/192.0.2.1"], port: 53, in: scene.links.internet)
        let before = try scene.links.packetsSent(by: "mob0")
        #expect(try await scene.source(of: "http://printer.example/") == RouteScene.lan)
        #expect(try scene.links.packetsSent(by: "mob0") == before)
        withExtendedLifetime(names) {}
    }
}
