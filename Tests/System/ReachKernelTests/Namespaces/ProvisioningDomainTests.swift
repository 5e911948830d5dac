internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// Networks by the provisioning domain that their router announces, with hand-made advertisements.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: TestProgram.path("python3") != nil, "python3 is not installed"), .timeLimit(.minutes(1)))
struct ProvisioningDomainTests {
    private let machine: TestNamespace
    private let router: TestNamespace
    private let files: TemporaryDirectory

    init() throws {
        machine = try TestNamespace()
        router = try TestNamespace()
        files = try TemporaryDirectory()
        try machine.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "far0", "netns", router.name)
        for (namespace, name, address) in [(router, "far0", "fe80::1/64"), (machine, "lan0", "fe80::2/64")] {
            try namespace.run("ip", "link", "set", name, "addrgenmode", "none", "up")
            try namespace.run("ip", "address", "add", address, "dev", name, "nodad")
        }
        try router.run("ip", "address", "add", "2001:db8::1/64", "dev", "far0", "nodad")
        try machine.run("ip", "address", "add", "2001:db8::2/64", "dev", "lan0", "nodad")
        try machine.run("sysctl", "-qw", "net.ipv6.conf.lan0.accept_ra=1", "net.ipv6.conf.lan0.autoconf=0")
        try files.file("advertise.py", Self.script)
    }

    private static let script = """
        import socket, struct, sys
        source, hops, lifetime, name = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
        message = struct.pack("!BBHBBHII", 134, 0, 0, 64, 0, lifetime, 0, 0)
        if name:
            encoded = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".")) + b"\\0"
            padding = -(len(encoded) + 6) % 8
            message += struct.pack("!BBHH", 21, (len(encoded) + 6 + padding) // 8, 0, 1) + encoded + bytes(padding)
        index = socket.if_nametoindex("far0")
        sender = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, hops)
        sender.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, index)
        sender.bind((source, 0, 0, index))
        sender.sendto(message, ("ff02::1", 0, 0, index))
        """

    private func advertise(
        _ domain: String, from source: String = "fe80::1", hopLimit: Int = 255, lifetime: Int = 1800
    ) throws {
        try router.run(
            "python3", files.path + "/advertise.py", source, "\(hopLimit)", "\(lifetime)", domain)
    }

    private var options: ReachabilityEngine.Options {
        var options = ReachabilityEngine.Options()
        options.observer.policy.networks.rules = ["office", "guests", "forged"].map { name in
            var rule = NetworkRule(name: name)
            rule.domains = [ProvisioningDomain(name + ".example.com")].compactMap(\.self)
            return rule
        }
        return options
    }

    private func remove() {
        machine.remove()
        router.remove()
    }

    @Test func `a network has the name of its router's domain, and no one else's, as long as its router is one`()
        async throws
    {
        defer { remove() }
        let engine = try await TestEngine.start(in: machine, options: options)
        #expect(engine.state?.status == .notReachable)
        try advertise("office.example.com")
        try await engine.changes.wait { $0.last?.state.network == "office" }
        #expect(engine.state?.ipv6.interface == "lan0" && engine.state?.status == .reachable)
        // Routers passed it on, or it came from another network.
        try advertise("forged.example.com", hopLimit: 254)
        try advertise("forged.example.com", from: "2001:db8::1")
        try advertise("Guests.EXAMPLE.com")
        try await engine.changes.wait { $0.last?.state.network == "guests" }
        try advertise("")
        try await engine.changes.wait { $0.last?.state.network == nil }
        try advertise("office.example.com")
        try await engine.changes.wait { $0.last?.state.network == "office" }
        try advertise("office.example.com", lifetime: 0)
        try await engine.changes.wait { $0.last?.state.status == .notReachable }
        #expect(!engine.changes.values.contains { $0.state.network == "forged" })
    }

    @Test func `where no network is named by a domain, no one listens`() async throws {
        defer { remove() }
        let engine = try await TestEngine.start(in: machine)
        try advertise("office.example.com")
        try await engine.changes.wait { $0.last?.state.status == .reachable }
        #expect(try machine.run("cat", "/proc/net/raw6").split(separator: "\n").count == 1)
        let listening = try await TestEngine.start(in: machine, options: options)
        #expect(try machine.run("cat", "/proc/net/raw6").split(separator: "\n").count == 2)
        withExtendedLifetime(listening) {}
    }
}
