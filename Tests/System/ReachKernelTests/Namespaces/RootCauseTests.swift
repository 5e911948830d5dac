internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// What broke, as a real kernel shows it to a watcher and to a single query.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct RootCauseTests {
    /// Something that breaks on a machine with an uplink, and the root cause.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var target = "internet"
        /// Arguments of ip(8), before the watch begins and after. Those that begin with `peer` are for the other end,
        /// and those that begin with `set` are settings of the kernel.
        var prepared: [String] = []
        let broken: [String]
        let watched: String
        /// What a single query finds, if that is something else.
        var queried: String?
    }

    private static let unconfigured = ["-4 addr flush dev up0", "-6 addr flush dev up0"]

    private static let links = [
        Case(testDescription: "cable", broken: ["peer link set up1 down"], watched: "no-carrier up0"),
        Case(
            testDescription: "cable, and a manager removed address and route",
            broken: ["peer link set up1 down"] + unconfigured, watched: "no-carrier up0"),
        Case(testDescription: "link down", broken: ["link set up0 down"], watched: "link-down up0"),
        Case(
            testDescription: "link removed", broken: ["link del up0"], watched: "interface-gone up0",
            queried: "no-links"),
        Case(
            testDescription: "link moved to another namespace", broken: ["link set up0 netns PEER"],
            watched: "interface-gone up0", queried: "no-links"),
        Case(
            testDescription: "link removed and made again",
            broken: ["link del up0", "link add up0 type veth peer name up9", "addr add 192.0.2.2/24 dev up0"],
            watched: "link-down up0"),
        Case(testDescription: "802.1X", broken: ["link set up0 state dormant"], watched: "not-authorised up0"),
        Case(
            testDescription: "cable, next to a bridge of containers",
            prepared: ["link add docker0 type bridge", "addr add 172.17.0.1/16 dev docker0", "link set docker0 up"],
            broken: ["peer link set up1 down"] + unconfigured, watched: "no-carrier up0"),
        Case(
            testDescription: "cable, next to a local network",
            prepared: [
                "link add d0 type veth peer name d1", "link set d1 up", "link set d0 up",
                "addr add 198.51.100.2/24 dev d0",
            ],
            broken: ["peer link set up1 down"] + unconfigured, watched: "no-carrier up0", queried: "no-default-route d0"
        ),
    ]

    /// The way to the Internet leads over a bridge, whose port is up0.
    private static let overBridge = [
        "addr flush dev up0", "link add br0 type bridge", "link set br0 up", "link set up0 master br0",
        "addr add 192.0.2.2/24 dev br0", "route replace default via 192.0.2.1",
    ]

    private static let bridgesAndTuns = [
        Case(
            testDescription: "cable of a bridge",
            prepared: overBridge,
            broken: ["peer link set up1 down"], watched: "no-carrier up0"),
        Case(
            testDescription: "port of a bridge",
            prepared: overBridge,
            broken: ["link del up0"], watched: "no-ports br0"),
        Case(
            testDescription: "program of a tunnel",
            prepared: [
                "tuntap add t0 mode tun", "link set t0 up", "addr add 198.51.100.2/24 dev t0",
                "route replace default dev t0",
            ],
            broken: [], watched: "not-attached t0"),
    ]

    private static let virtualLANs = [
        Case(
            testDescription: "cable of a VLAN",
            prepared: [
                "link add link up0 name up0.5 type vlan id 5", "link set up0.5 up",
                "addr add 198.51.100.2/24 dev up0.5",
                "route replace default via 198.51.100.1",
            ],
            broken: ["peer link set up1 down"], watched: "no-carrier up0"),
        Case(
            testDescription: "VLAN down",
            prepared: [
                "link add link up0 name up0.5 type vlan id 5", "link set up0.5 up",
                "addr add 198.51.100.2/24 dev up0.5",
                "route replace default via 198.51.100.1", "addr flush dev up0",
            ],
            broken: ["link set up0.5 down"], watched: "link-down up0.5"),
    ]

    private static let bonds = [
        Case(
            testDescription: "cable of a bond",
            prepared: [
                "addr flush dev up0", "link set up0 down", "link add bond0 type bond miimon 10",
                "link set up0 master bond0", "link set bond0 up", "addr add 192.0.2.2/24 dev bond0",
                "route replace default via 192.0.2.1",
            ],
            broken: ["peer link set up1 down"], watched: "no-carrier up0")
    ]

    private static let tunnels = [
        Case(
            testDescription: "tunnel removed",
            prepared: [
                "tunnel add i0 mode ipip remote 192.0.2.1 local 192.0.2.2", "link set i0 up",
                "addr add 198.51.100.2/24 dev i0", "route replace default dev i0",
            ],
            broken: ["link del i0"], watched: "interface-gone i0", queried: "no-default-route up0"),
        Case(
            testDescription: "tunnel removed, and its cable is out",
            prepared: [
                "tunnel add i0 mode ipip remote 192.0.2.1 local 192.0.2.2", "link set i0 up",
                "addr add 198.51.100.2/24 dev i0", "route replace default dev i0",
            ],
            broken: ["peer link set up1 down", "link del i0"], watched: "no-carrier up0"),
    ]

    private static let routes = [
        Case(testDescription: "default route", broken: ["route del default"], watched: "no-default-route up0"),
        Case(
            testDescription: "lease, with an address of IPv6", broken: ["-4 addr flush dev up0"],
            watched: "no-address up0",
            queried: "no-default-route up0"),
        Case(testDescription: "no DHCP answer", broken: unconfigured, watched: "no-address up0"),
        Case(
            testDescription: "DHCP failed", broken: unconfigured + ["addr add 169.254.7.7/16 dev up0 scope link"],
            watched: "self-assigned-address up0"),
        Case(
            testDescription: "IPv6 disabled", target: "2001:db8:1::1",
            prepared: ["-6 route add default via 2001:db8::1"],
            broken: ["set net.ipv6.conf.up0.disable_ipv6=1"], watched: "ipv6-disabled up0"),
        Case(
            testDescription: "an MTU that is too small for IPv6", target: "2001:db8:1::1",
            prepared: ["-6 route add default via 2001:db8::1"], broken: ["link set up0 mtu 1279"],
            watched: "small-mtu up0"),
        Case(
            testDescription: "loopback down", target: "127.0.0.1", broken: ["link set lo down"], watched: "link-down lo"
        ),
        Case(
            testDescription: "loopback down in IPv6", target: "::1", broken: ["link set lo down"],
            watched: "link-down lo"),
        Case(
            testDescription: "unreachable route", broken: ["route replace unreachable default"], watched: "unreachable"),
        Case(testDescription: "blackhole", broken: ["route replace blackhole default"], watched: "blackhole"),
        Case(testDescription: "prohibit route", broken: ["route replace prohibit default"], watched: "prohibited"),
        // The watcher knew before that there was no such route.
        Case(testDescription: "throw route", broken: ["route replace throw default"], watched: "throw-route"),
        Case(
            testDescription: "throw route to a target that is watched", target: "198.51.100.7",
            broken: ["route add throw 198.51.100.0/24"], watched: "throw-route"),
        Case(
            testDescription: "prohibit rule, and a cable beside a link that works",
            prepared: [
                "link add d0 type veth peer name d1", "link set d1 up", "link set d0 up",
                "addr add 198.51.100.2/24 dev d0",
            ],
            broken: ["rule add priority 90 prohibit", "peer link set up1 down"], watched: "rule"),
        Case(
            testDescription: "unreachable rule for a user",
            broken: ["rule add priority 90 uidrange 0-65533 unreachable"], watched: "rule"),
        Case(
            testDescription: "self-assigned address with a default route",
            broken: unconfigured + [
                "addr add 169.254.7.7/16 dev up0", "route replace default dev up0 scope link metric 1002",
            ], watched: "self-assigned-address up0"),
        Case(testDescription: "prohibit rule", broken: ["rule add priority 90 prohibit"], watched: "rule"),
        Case(testDescription: "unreachable rule", broken: ["rule add priority 90 unreachable"], watched: "rule"),
        Case(testDescription: "blackhole rule", broken: ["rule add priority 90 blackhole"], watched: "rule"),
        Case(
            testDescription: "unreachable rule in IPv6", target: "2001:db8:1::1",
            prepared: ["-6 route add default via 2001:db8::1"], broken: ["-6 rule add priority 90 unreachable"],
            watched: "rule"),
        Case(
            testDescription: "a prohibit route before a prohibit rule",
            broken: [
                "route add prohibit default table 50", "rule add priority 80 lookup 50",
                "rule add priority 90 prohibit",
            ],
            watched: "prohibited"),
        Case(
            testDescription: "kill switch, and the cable is out",
            broken: ["route replace unreachable default", "peer link set up1 down"], watched: "no-carrier up0"),
        Case(
            testDescription: "gateway", prepared: ["neigh replace 192.0.2.1 dev up0 nud failed"], broken: [],
            watched: "gateway-unreachable up0"),
        Case(
            testDescription: "host on the link", target: "192.0.2.9",
            prepared: ["neigh replace 192.0.2.9 dev up0 nud failed"], broken: [], watched: "neighbour-unreachable up0"),
        Case(
            testDescription: "loopback device", target: "192.0.2.2", broken: ["link set lo down"],
            watched: "link-down lo"),
        Case(
            testDescription: "interface removed", target: "interface:up0", broken: ["link del up0"],
            watched: "interface-gone up0", queried: "no-interface"),
        Case(testDescription: "no such interface", target: "interface:nope", broken: [], watched: "no-interface"),
        Case(
            testDescription: "interface without an address", target: "interface:up0", broken: unconfigured,
            watched: "no-address up0"),
    ]

    @Test(arguments: links + bridgesAndTuns + routes)
    func `a watcher and a single query name what broke`(_ row: Case) async throws { try await check(row) }

    @Test(.enabled(if: TestNamespace.supports("link up0", "vlan id 5"), "no VLANs here"), arguments: virtualLANs)
    func `the same of a VLAN`(_ row: Case) async throws { try await check(row) }

    @Test(.enabled(if: TestNamespace.supports("", "bond"), "no bonds here"), arguments: bonds)
    func `the same of a bond`(_ row: Case) async throws { try await check(row) }

    @Test(.enabled(if: TestNamespace.supports("", "ipip remote 192.0.2.1"), "no IPIP here"), arguments: tunnels)
    func `the same of a tunnel`(_ row: Case) async throws { try await check(row) }

    private func check(_ row: Case) async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let target = try Target(row.target)
        for command in row.prepared { try namespace.perform(command, peer) }
        let watched = try await TestEngine.start(target, in: namespace)
        for command in row.broken {
            try namespace.perform(command, peer)
            // As if seconds lay in between: the watcher sees each step.
            try await watched.drain()
        }
        try await watched.changes.wait { $0.last.map { Self.text($0.state) } == row.watched }
        try await watched.drain()
        #expect(watched.state.map(Self.text) == row.watched)
        let queried = try await namespace.perform { try KernelSnapshot().state(of: target) }
        #expect(Self.text(queried) == row.queried ?? row.watched)
    }

    private static func text(_ state: ReachabilityState) -> String {
        [state.rootCause?.kind.rawValue, state.rootCause?.interface].compactMap(\.self).joined(separator: " ")
    }

    @Test func `the root cause follows what is mended, step by step, and goes with the end of the outage`() async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        for (command, expected) in [
            ("link set up0 down", "link-down up0"), ("peer link set up1 down", "link-down up0"),
            ("link set up0 up", "no-carrier up0"), ("addr flush dev up0", "no-carrier up0"),
            ("peer link set up1 up", "no-address up0"), ("addr add 192.0.2.2/24 dev up0", "no-default-route up0"),
            ("route add default via 192.0.2.1", ""),
        ] {
            try namespace.perform(command, peer)
            try await watched.drain()
            try await watched.changes.wait { $0.last.map { Self.text($0.state) } == expected }
            #expect(watched.state.map(Self.text) == expected, "after \(command)")
        }
        #expect(watched.state?.isReachable == true)
        let repeated = zip(watched.changes.values, watched.changes.values.dropFirst()).filter { before, after in
            before.state.rootCause == after.state.rootCause && before.state.reason == after.state.reason
                && before.state.status == after.state.status
        }
        #expect(repeated.isEmpty, "no event without a difference")
    }

    @Test func `a name that is not resolved has the root cause of the Internet`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try peer.run("ip", "link", "set", "up1", "down")
        let target = try Target("www.example.invalid")
        let state = try await namespace.perform { try KernelSnapshot().state(of: target) }
        #expect(state.reason == .nameNotResolved)
        #expect(Self.text(state) == "no-carrier up0")
    }
}

extension TestNamespace {
    /// Whether the kernel has a kind of link, by an attempt.
    fileprivate static func supports(_ place: String, _ kind: String) -> Bool {
        guard let namespace = try? TestNamespace() else { return false }
        defer { namespace.remove() }
        let words = { (text: String) in text.split(separator: " ").map(String.init) }
        let command = ["link", "add"] + words(place) + ["name", "x0", "type"] + words(kind)
        return (try? namespace.vethPair()) != nil
            && (try? ChildProcess.run(["ip", "-n", namespace.name] + command)) != nil
    }

    /// Runs ip(8) here or at the other end of the uplink, or sets a setting of the kernel.
    fileprivate func perform(_ command: String, _ peer: TestNamespace) throws {
        var words = command.split(separator: " ").map { $0 == "PEER" ? peer.name : String($0) }
        if words[0] == "set" {
            return _ = try ChildProcess.run(["ip", "netns", "exec", name, "sysctl", "-qw", words[1]])
        }
        let place = words[0] == "peer" ? peer : self
        if words[0] == "peer" { words.removeFirst() }
        _ = try ChildProcess.run(["ip", "-n", place.name] + words)
    }
}
