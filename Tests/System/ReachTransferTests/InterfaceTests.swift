import CConfine
import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

/// Attempts bound to interfaces, and networks that answer nothing.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
struct InterfaceTests {
    /// Two links to two networks with the same addresses, which only an attempt's interface distinguishes.
    private final class TwoNetworks {
        let namespace: TestNamespace
        private var peers: [TestNamespace] = []
        private var servers: [WebServer] = []

        init() throws {
            namespace = try TestNamespace()
            for interface in ["one", "two"] {
                let peer = try TestNamespace()
                peers.append(peer)
                try namespace.run(
                    "ip", "link", "add", interface, "type", "veth", "peer", "name", "far", "netns", peer.name)
                try peer.run("ip", "address", "add", "192.0.2.1/24", "dev", "far")
                try peer.run("ip", "link", "set", "far", "up")
                let own = interface == "one" ? "192.0.2.11/24" : "192.0.2.12/24"
                try namespace.run("ip", "address", "add", own, "dev", interface)
                try namespace.run("ip", "link", "set", interface, "up")
                servers.append(
                    try WebServer(
                        "server { listen 192.0.2.1:80; location / { return 200 \"\(interface) $remote_addr\"; } }",
                        listensOn: [80], in: peer))
            }
        }

        deinit {
            servers = []
            peers.forEach { $0.remove() }
            namespace.remove()
        }

        func index(_ interface: String) throws -> UInt32 {
            let text = try namespace.run("ip", "-o", "link", "show", interface)
            return UInt32(text.prefix { $0 != ":" }) ?? 0
        }
    }

    private func request(_ interface: InterfaceBinding?) throws -> TransferRequest {
        var request = TransferRequest(url: try TransferURL("http://192.0.2.1/"))
        request.interface = interface
        request.timeouts.connect = .seconds(5)
        return request
    }

    @Test func `each request goes by its interface, and no connection of the other is used`() async throws {
        let networks = try TwoNetworks()
        let stage = try TransferStage(in: networks.namespace)
        for interface in ["one", "two", "one", "two"] {
            let binding = InterfaceBinding(name: interface, index: try networks.index(interface))
            let report = try await stage.run(try request(binding))
            let own = interface == "one" ? "192.0.2.11" : "192.0.2.12"
            #expect(String(decoding: report.body, as: UTF8.self) == "\(interface) \(own)")
            #expect(report.hops.first?.localAddress == IPAddress(own))
        }
        // libcurl 7.88.1 by itself would use a connection that is bound to an interface for a request that is not.
        let free = try await stage.run(try request(nil))
        #expect(free.hops.first?.reusedConnection == false)
        let again = try await stage.run(try request(InterfaceBinding(name: "two", index: try networks.index("two"))))
        #expect(again.hops.first?.reusedConnection == true)
        withExtendedLifetime(networks) {}
    }

    @Test func `an interface of the same name with another index is another interface`() async throws {
        let networks = try TwoNetworks()
        let stage = try TransferStage(in: networks.namespace)
        let report = try await stage.run(try request(InterfaceBinding(name: "one", index: 999)))
        #expect(report.failure?.reason == .noDevice)
        withExtendedLifetime(networks) {}
    }

    @Test func `another source address than the one asked for ends the attempt before its request`() async throws {
        let networks = try TwoNetworks()
        let stage = try TransferStage(in: networks.namespace)
        var request = try request(InterfaceBinding(name: "one"))
        request.source = "192.0.2.12"
        let report = try await stage.run(request)
        #expect(report.failure?.reason == .wrongPath)
        #expect(report.failure?.kind == .refused)
        #expect(report.hops.first?.phases.requestStarted == nil)
        request.source = "192.0.2.11"
        #expect(try await stage.run(request).response?.status == 200)
        withExtendedLifetime(networks) {}
    }

    @Test func `a black hole times out within 50 ms of its limit, and the loop continues`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("nft", "add table inet t; add chain inet t c { type filter hook input priority 0; policy drop; }")
        let stage = try TransferStage(in: namespace)
        var request = try request(nil)
        request.timeouts.connect = .milliseconds(400)
        var lateness = Duration.seconds(1000)
        let worst = try await shortest(within: .milliseconds(450)) {
            let watch = stage.watchLateness()
            let logs = (0..<20).map { _ in stage.start(request) }
            var durations: [Duration] = []
            for log in logs {
                let report = try await log.report()
                #expect(report.failure?.reason == .connectTimeout)
                let phases = try #require(report.hops.first?.phases)
                #expect(phases.connected == nil)
                durations.append(try #require(phases.finished) - phases.started)
            }
            #expect(durations.allSatisfy { $0 >= .milliseconds(400) })
            lateness = min(lateness, watch.inLoop)
            return max(durations.max() ?? .zero, watch.inLoop > .milliseconds(20) ? .seconds(1) : .zero)
        }
        #expect(worst <= .milliseconds(450))
        #expect(lateness < .milliseconds(20))
    }

    @Test func `where binding is denied the attempt is refused, and nothing is sent unbound`() async throws {
        let networks = try TwoNetworks()
        let stage = try TransferStage(in: networks.namespace)
        #expect(await stage.ask { _ in reach_confine_deny_binding() == 0 })
        let report = try await stage.run(try request(InterfaceBinding(name: "one")))
        #expect(report.failure?.reason == .bindRefused)
        #expect(report.failure?.systemError == EPERM)
        #expect(report.failure?.kind == .refused)
        #expect(report.hops.first?.phases.connected == nil)
        #expect(try await stage.run(try request(nil)).response?.status == 200)
        withExtendedLifetime(networks) {}
    }

    @Test func `a family without a path costs 250 ms once, and the other one succeeds`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        // Neighbours are still found: the network behind them drops everything.
        try peer.run(
            "nft",
            "add table ip6 t; add chain ip6 t c { type filter hook input priority 0; policy drop; }; "
                + "add rule ip6 t c meta l4proto ipv6-icmp accept")
        let web = try WebServer(
            "server { listen 192.0.2.1:80; listen [2001:db8::1]:80; location / { return 204; } }", listensOn: [80],
            in: peer)
        defer { withExtendedLifetime(web) {} }
        var options = TransferEngine.Options()
        options.resolver.configuration = ResolverConfiguration(
            servers: [], hosts: ["both.example": ["2001:db8::1", "192.0.2.1"]])
        let stage = try TransferStage(in: namespace, options: options)
        var request = TransferRequest(url: try TransferURL("http://both.example/"))
        request.timeouts.connect = .seconds(1)
        let report = try await stage.run(request)
        #expect(report.response?.status == 204)
        #expect(report.hops.first?.attempts == 2)
        #expect(report.hops.first?.remoteAddress == "192.0.2.1")
        // The address that won is tried first from now on.
        request.connection = .fresh
        #expect(try await stage.run(request).hops.first?.attempts == 1)
        stage.perform { $0.engine.newEpoch() }
        #expect(try await stage.run(request).hops.first?.attempts == 2)
        request.family = .ipv6
        #expect(try await stage.run(request).failure?.reason == .connectTimeout)
        request.family = .ipv4
        #expect(try await stage.run(request).hops.first?.attempts == 1)
    }

    @Test func `an address is found on the link of its zone, and without one this machine is at fault`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "address", "add", "fe80::1/64", "dev", "up1", "nodad")
        try namespace.run("ip", "address", "add", "fe80::2/64", "dev", "up0", "nodad")
        let web = try WebServer(
            "server { listen [::]:80; listen 80; location / { return 204; } }", listensOn: [80], in: peer)
        defer { withExtendedLifetime(web) {} }
        let stage = try TransferStage(in: namespace)
        for host in ["[fe80::1%25up0]", "[fe80::1%up0]", "[::ffff:192.0.2.1]"] {
            let report = try await stage.run(TransferRequest(url: try TransferURL("http://\(host)/")))
            #expect(report.response?.status == 204, "\(host): \(report.outcome)")
        }
        for host in ["[fe80::1]", "[fe80::1%25none0]"] {
            let report = try await stage.run(TransferRequest(url: try TransferURL("http://\(host)/")))
            #expect(report.failure?.kind == .localNetwork, "\(host): \(report.outcome)")
        }
    }

    @Test func `without a route the failure is this machine's, and says nothing about the destination`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let report = try await TransferStage(in: namespace).run(try request(nil))
        #expect(report.failure?.reason == .networkUnreachable)
        #expect(report.failure?.kind == .localNetwork)
        #expect(report.failure?.systemError == ENETUNREACH)
    }
}

struct ProxyTests {
    @Test func `proxies of the environment are ignored`() async throws {
        let trap = try ScriptedServer { $0.readRequest() }
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        let proxy = "http://127.0.0.1:\(trap.port)"
        let names = ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"]
        let result = try BuiltProgram(named: "fetch").run(
            ["http://127.0.0.1:\(server.port)/"],
            environment: .init(uniqueKeysWithValues: names.map { ($0, proxy) } + [("no_proxy", nil)]))
        #expect(result.lines == ["204"])
        #expect(trap.requests.values.isEmpty)
    }

    @Test func `an explicit proxy gets the request, with the name unresolved`() async throws {
        let proxy = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        var request = TransferRequest(url: try TransferURL("http://far.example/x"))
        request.proxy = .explicit(try TransferURL(proxy: "http://127.0.0.1:\(proxy.port)"))
        #expect(try await TransferStage().run(request).response?.status == 204)
        #expect(proxy.requests.values.first?.hasPrefix("GET http://far.example/x HTTP/1.1\r\n") == true)
    }

    @Test func `a proxy that refuses a tunnel fails the transfer`() async throws {
        let proxy = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
        }
        var request = TransferRequest(url: try TransferURL("https://far.example/x"))
        request.proxy = .explicit(try TransferURL(proxy: "http://127.0.0.1:\(proxy.port)"))
        let report = try await TransferStage().run(request)
        #expect(report.failure?.kind == .destination, "\(report.outcome)")
        #expect(proxy.requests.values.first?.hasPrefix("CONNECT far.example:443 HTTP/1.1\r\n") == true)
    }
}
