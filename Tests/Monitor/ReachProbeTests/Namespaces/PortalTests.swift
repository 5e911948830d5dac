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
        #expect(try await network.waitForQuestion(), "the API was not asked")
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
