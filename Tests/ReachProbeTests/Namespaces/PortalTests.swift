internal import ReachCore
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// A network that announces a portal: real router advertisements, and a real API with a certificate.
@Suite(.enabled(if: PortalNetwork.whyNot == nil, "\(PortalNetwork.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct PortalTests {
    private static let plain = [SmallInternet.plain].compactMap { ConnectivityEndpoint($0) }

    @Test
    func `a portal that announces itself closes the path until its API says that it is open, and warns of the end`()
        async throws
    {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": true, "user-portal-url": "https://login.example/"}"#)
        let validated = try await ValidatingEngine.start(in: network.small, endpoints: Self.plain)
        // The endpoint answers as expected: the portal lets it pass, as many do.
        try await validated.wait(for: .full)
        try network.advertise()
        try await validated.wait(for: .portal)
        #expect(validated.state?.portal == "https://login.example/")
        #expect(validated.state?.portalSession?.isCaptive == true)
        #expect(validated.changes.values.last?.aspects == [.connectivity, .portal])
        try network.answer(#"{"captive": false, "seconds-remaining": 302, "bytes-remaining": 1000}"#)
        try await validated.wait(for: .full, within: .seconds(30))
        try await validated.changes.wait(within: .seconds(30)) { $0.last?.state.portalSession?.isEnding == true }
        #expect(validated.state?.connectivity == .full)
        #expect(validated.state?.portalSession?.bytesRemaining == 1000)
    }

    @Test func `an API that says captive does not outweigh a proof by HTTPS`() async throws {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": true}"#)
        let validated = try await ValidatingEngine.start(in: network.small)
        try await validated.wait(for: .full)
        try network.advertise()
        try await validated.changes.wait { $0.last?.state.portalSession?.isCaptive == true }
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .portal })
    }

    @Test func `what answers with another certificate, or in the clear, is not believed`() async throws {
        let network = try PortalNetwork(isImpostor: true)
        try network.answer(#"{"captive": true}"#)
        let validated = try await ValidatingEngine.start(in: network.small, endpoints: Self.plain)
        try await validated.wait(for: .full)
        try network.advertise()
        try await network.waitForQuestion()
        try network.advertise("http://192.0.2.1:8443/api")
        // The third announcement is answered after the first two had their chance.
        try network.serve(isImpostor: false)
        try network.answer(#"{"captive": false, "seconds-remaining": 9000}"#)
        try network.advertise(PortalNetwork.api + "?again")
        try await validated.changes.wait { $0.last?.state.portalSession?.end != nil }
        #expect(validated.changes.values.allSatisfy { $0.state.connectivity != .portal })
        #expect(validated.changes.values.allSatisfy { $0.state.portalSession?.isCaptive != true })
    }

    @Test func `a portal is forgotten when its router withdraws, and when its link goes down`() async throws {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": false}"#)
        let validated = try await ValidatingEngine.start(in: network.small, endpoints: Self.plain)
        try await validated.wait(for: .full)
        try network.advertise()
        try await validated.changes.wait { $0.last?.state.portalSession != nil }
        try network.advertise(nil, lifetime: 0)
        try await validated.changes.wait { $0.last?.state.portalSession == nil }
        try network.advertise()
        try await validated.changes.wait { $0.last?.state.portalSession != nil }
        try network.small.machine.run("ip", "link", "set", "up0", "down")
        try await validated.changes.wait { $0.last?.state.portalSession == nil }
    }

    @Test func `a lease announces a portal, too`() async throws {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": true}"#)
        let files = try TemporaryDirectory()
        let index =
            try network.small.machine.run("cat", "/sys/class/net/up0/ifindex")
            .split(separator: "\n").first.map(String.init) ?? ""
        try ChildProcess.run(["mkdir", "-p", files.path + "/run/systemd/netif/links"])
        try files.file(
            "run/systemd/netif/links/" + index, "ADMIN_STATE=configured\nCAPTIVE_PORTAL=\(PortalNetwork.api)\n")
        let validated = try await ValidatingEngine.start(
            in: network.small, endpoints: Self.plain, leaseRoot: files.path + "/")
        try await validated.wait(for: .portal)
    }
}

/// A ``SmallInternet`` whose router sends advertisements with a portal's API, and serves it.
final class PortalNetwork {
    static let api = "https://192.0.2.1:8443/api"
    static let whyNot = SmallInternet.whyNot ?? (TestProgram.path("python3") == nil ? "python3 is not installed" : nil)

    let small: SmallInternet
    private let files: TemporaryDirectory
    private var server: WebServer?
    private var isImpostor: Bool
    private var body = "{}"

    init(isImpostor: Bool = false) throws {
        small = try SmallInternet()
        files = try TemporaryDirectory()
        self.isImpostor = isImpostor
        // The router's advertisements make the default route.
        try small.machine.run("ip", "-6", "route", "del", "default")
        try small.machine.run("sysctl", "-qw", "net.ipv6.conf.up0.accept_ra=1", "net.ipv6.conf.up0.autoconf=0")
        try files.file("advertise.py", Self.script)
    }

    /// Sets the answer of the API.
    func answer(_ body: String) throws {
        self.body = body
        try serve(isImpostor: isImpostor)
    }

    func serve(isImpostor: Bool) throws {
        self.isImpostor = isImpostor
        server = nil
        let identity =
            isImpostor
            ? try small.authority.selfSigned("liar", names: ["IP:192.0.2.1"])
            : try small.authority.issue("api\(UInt64.random(in: 0...UInt64.max))", names: ["IP:192.0.2.1"])
        server = try WebServer(
            """
            server { listen 8443 ssl;
                location / { default_type application/captive+json; return 200 '\(body)'; }
                ssl_certificate \(identity.certificatePath); ssl_certificate_key \(identity.keyPath); }
            """, listensOn: [8443], in: small.router)
    }

    /// Sends one advertisement.
    ///
    /// - Parameter lifetime: As a default router, in seconds.
    func advertise(_ uri: String? = api, lifetime: Int = 1800) throws {
        try small.router.run("python3", files.path + "/advertise.py", "up1", "\(lifetime)", uri ?? "")
    }

    /// Waits until the machine has asked the API: until a connection of its has ended.
    func waitForQuestion() async throws {
        for _ in 0..<100 {
            let text = try small.router.run("nstat", "-asz", "TcpPassiveOpens")
            if text.split(whereSeparator: \.isWhitespace).contains(where: { (Int($0) ?? 0) > 0 }) { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        Issue.record("the API was not asked")
    }

    private static let script = """
        import socket, struct, sys
        interface, lifetime, uri = sys.argv[1], int(sys.argv[2]), sys.argv[3].encode()
        message = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0)
        if uri:
            padding = -(len(uri) + 2) % 8
            message += struct.pack("BB", 37, (len(uri) + 2 + padding) // 8) + uri + bytes(padding)
        index = socket.if_nametoindex(interface)
        sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        sender.bind(("fe80::1", 0, 0, index))
        sender.sendto(message, ("ff02::1", 0, 0, index))
        """
}
