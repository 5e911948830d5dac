internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachProbe
internal import ReachTesting
internal import Testing

/// A portal's API that a real DHCP server announces to real clients (RFC 8910, option 114).
@Suite(
    .enabled(if: PortalNetwork.whyNot == nil, "\(PortalNetwork.whyNot ?? "")"),
    .enabled(if: getuid() == 0, "DHCP clients need root"), .timeLimit(.minutes(1)))
struct PortalLeaseTests {
    private static let plain = [SmallInternet.plain].compactMap { ConnectivityEndpoint($0) }

    /// Starts dnsmasq on the router, which leases the machine's own address with the API's URI.
    private func serveLeases(in network: PortalNetwork, _ files: TemporaryDirectory) throws -> RunningProgram {
        let server = try #require(TestProgram.path("dnsmasq"))
        let running = try BuiltProgram(named: server).start(
            [
                "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--no-resolv", "--no-ping", "--pid-file=",
                "--user=", "--group=", "--interface=up1", "--dhcp-authoritative", "--log-facility=-",
                "--dhcp-range=192.0.2.2,192.0.2.2,10m", "--dhcp-leasefile=\(files.path)/server.leases",
                "--dhcp-option-force=114,\(PortalNetwork.api)",
            ], in: network.small.router.name)
        return running
    }

    @Test(
        .enabled(if: TestProgram.path("dhclient") != nil, "dhclient is not installed (apt-get install isc-dhcp-client)")
    )
    func `dhclient's lease announces the portal`() async throws {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": true}"#)
        let files = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", "-p", files.path + "/var/lib/dhcp"])
        let configuration = try files.file(
            "dhclient.conf",
            "option captive-portal code 114 = text;\n"
                + "request subnet-mask, routers, domain-name-servers, captive-portal;\n")
        let server = try serveLeases(in: network, files)
        defer { server.send(SIGKILL) }
        let lease = files.path + "/var/lib/dhcp/dhclient.up0.leases"
        let client = try BuiltProgram(named: try #require(TestProgram.path("dhclient"))).start(
            [
                "-4", "-d", "-1", "-cf", configuration, "-lf", lease, "-pf", files.path + "/pid", "-sf", "/bin/true",
                "up0",
            ], in: network.small.machine.name)
        defer { client.send(SIGKILL) }
        try await Self.wait(for: lease, toContain: "captive-portal")
        let validated = try await ValidatingEngine.start(
            in: network.small, endpoints: Self.plain, leaseRoot: files.path + "/")
        try await validated.wait(for: .portal)
        #expect(validated.state?.portalSession?.isCaptive == true)
    }

    @Test(.enabled(if: TestProgram.path("udhcpc") != nil, "udhcpc is not installed (apt-get install udhcpc)"))
    func `udhcpc's lease announces the portal by the hook in contrib`() async throws {
        let network = try PortalNetwork()
        try network.answer(#"{"captive": true}"#)
        let files = try TemporaryDirectory()
        let directory = files.path + "/run/reach-portal"
        let script = try files.file(
            "script",
            "#!/bin/sh\nREACH_PORTAL_DIRECTORY=\(directory) exec \(ProjectFile.path("contrib/udhcpc/reach-portal")) \"$1\"\n"
        )
        try ChildProcess.run(["chmod", "755", script])
        let server = try serveLeases(in: network, files)
        defer { server.send(SIGKILL) }
        try network.small.machine.run(
            "udhcpc", "-i", "up0", "-f", "-n", "-q", "-O", "114", "-O", "43", "-s", script)
        let validated = try await ValidatingEngine.start(
            in: network.small, endpoints: Self.plain, leaseRoot: files.path + "/")
        try await validated.wait(for: .portal)
    }

    private static func wait(for path: String, toContain text: String) async throws {
        for _ in 0..<200 {
            if (SmallFile.text(path) ?? "").contains(text) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        Issue.record("\(path) does not contain '\(text)' after 10 s: \(SmallFile.text(path) ?? "no file")")
    }
}
