internal import ReachTesting
internal import Testing

/// `reach explain` with a real kernel. ReachCoreTests test the sentences.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
struct ExplainCommandTests {
    /// Changes of a machine with an uplink, the target to explain, and a text that one of the steps must contain.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var commands: [String]
        var target = "internet"
        let said: String
    }

    private static let cases = [
        Case(
            testDescription: "all is well", commands: [],
            said: "The route `default via 192.0.2.1 dev up0` in table main matches 198.41.0.4."),
        Case(testDescription: "no default route", commands: ["route del default"], said: "(ENETUNREACH)"),
        Case(
            testDescription: "a blackhole", commands: ["route replace blackhole default"],
            said: "The route `blackhole default` in table main drops packets for 198.41.0.4 silently."),
        Case(
            testDescription: "an unreachable route for some", commands: ["route add unreachable 198.51.100.0/24"],
            target: "198.51.100.7", said: "The route `unreachable 198.51.100.0/24` in table main rejects 198.51.100.7"),
        Case(
            testDescription: "a prohibit rule", commands: ["rule add priority 90 to 198.51.100.0/24 prohibit"],
            target: "198.51.100.7", said: "Rule 90 (from all to 198.51.100.0/24 prohibit) refuses this"),
        Case(
            testDescription: "an unreachable rule", commands: ["rule add priority 90 unreachable"],
            said: "Rule 90 (from all unreachable) refuses this"),
        Case(
            testDescription: "a prohibit rule in IPv6", commands: ["-6 rule add priority 90 prohibit"],
            target: "2001:db8:1::1", said: "Rule 90 (from all prohibit) refuses this"),
        Case(
            testDescription: "an unreachable default in IPv6", commands: ["-6 route add unreachable default metric 7"],
            target: "2001:db8:1::1", said: "`ip -6 route del unreachable default metric 7` would remove it"),
        Case(
            testDescription: "a kill switch",
            commands: [
                "route add unreachable default table 51820", "rule add priority 200 not fwmark 0xca6c lookup 51820",
                "rule add priority 100 lookup main suppress_prefixlength 0",
            ], said: "Rule 200 (not from all fwmark 0xca6c lookup 51820) sends this to table 51820, before table main"),
        Case(
            testDescription: "IPv4 over IPv6",
            commands: ["route del default", "route add 0.0.0.0/0 via inet6 2001:db8::1 dev up0"],
            said: "The route `default via inet6 2001:db8::1 dev up0`"),
        Case(
            testDescription: "a dead hop among two",
            commands: [
                "link add d0 type veth peer name d1", "link set d0 up", "address add 198.51.100.2/24 dev d0",
                "route replace default nexthop via 192.0.2.1 nexthop via 198.51.100.1",
            ], said: "`via 198.51.100.1 dev d0`"),
        Case(
            testDescription: "deprecated only",
            commands: [
                "address change 2001:db8::2/64 dev up0 preferred_lft 0", "-6 route add default via 2001:db8::1",
            ], target: "2001:db8:1::1", said: "It is sent from 2001:db8::2, an address of up0, which is deprecated"),
        Case(
            testDescription: "a gateway that failed",
            commands: ["neighbour replace 192.0.2.1 dev up0 nud failed"],
            said: "The gateway 192.0.2.1 does not answer ARP (failed)"),
        Case(
            testDescription: "a gateway that is stale",
            commands: ["neighbour replace 192.0.2.1 dev up0 lladdr 02:00:00:00:00:01 nud stale"],
            said: "(stale). That does not count against it"),
        Case(
            testDescription: "a bridge without a port",
            commands: [
                "link add br0 type bridge", "link set br0 up", "address add 198.51.100.2/24 dev br0",
                "route replace default via 198.51.100.1",
            ], said: "br0 has no port, so there is nothing that carries it."),
        Case(
            testDescription: "the only link is down", commands: ["link set up0 down"],
            said: "up0 (virtual) is down: it was taken down, or never brought up."),
        Case(testDescription: "the machine itself", commands: [], target: "192.0.2.2", said: "is this machine itself"),
        Case(
            testDescription: "an interface", commands: [], target: "interface:up0",
            said: "up0 has the address 192.0.2.2 to send from."),
    ]

    @Test(arguments: cases)
    func `it names the fault, and agrees with the status`(_ row: Case) throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        for command in row.commands { try namespace.ip(command) }
        let explained = try BuiltProgram.reach.run(["explain", row.target], in: namespace.name)
        let status = try BuiltProgram.reach.run(["status", row.target], in: namespace.name)
        #expect(explained.standardOutput.contains(row.said), "\(explained.standardOutput)")
        #expect(explained.status == status.status)
        #expect(explained.lines.first == status.lines.first)
    }

    @Test func `JSON is one object with both families`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let result = try BuiltProgram.reach.run(["explain", "--json"], in: namespace.name)
        #expect(result.status == 0)
        #expect(result.lines.count == 1)
        let line = result.standardOutput
        #expect(line.hasPrefix(#"{"v":1,"type":"explanation","time":""#))
        #expect(line.contains(#""source":"kernel","target":"internet","status":"reachable","class":"virtual""#))
        #expect(line.contains(#""interface":"up0","reason":null,"root_cause":null,"root_interface":null,"#))
        #expect(line.contains(#""metered":false,"connectivity":null,"connectivity_since":null,"portal":null,"#))
        #expect(line.contains(#""held":false,"ipv4":{"status":"reachable""#))
        #expect(line.contains(#""ipv6":{"status":"not-reachable","reason":"no-route","steps":[{"subject":"target""#))
    }

    @Test func `routes have the names of iproute2, and only explain loads the library that reads them`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.ip("route replace default via 192.0.2.1 proto dhcp")
        let program = BuiltProgram.reach.path
        let loaded = { (command: String) in
            try namespace.run("env", "LD_DEBUG=files", "sh", "-c", "exec '\(program)' \(command) --no-daemon 2>&1")
        }
        let explained = try loaded("explain")
        #expect(explained.contains("libnl-route-3.so") && explained.contains("dev up0 proto dhcp` in table main"))
        for command in ["status", "links"] { #expect(try !loaded(command).contains("libnl-route-3.so")) }
    }

    @Test func `a VRF that is not there is named, and no other path is taken for its own`() throws {
        for name in ["no-such-vrf", "lo"] {
            let result = try BuiltProgram.reach.run(["status", "--vrf", name])
            #expect(result.status == 4 && result.standardError.contains("VRF \(name)"), "\(result)")
        }
    }

    @Test func `a missing interface is reported once`() throws {
        let result = try BuiltProgram.reach.run(["explain", "interface:no-such-link"])
        #expect(result.status == 1)
        #expect(result.standardOutput.contains("IPv4 and IPv6  not reachable"))
    }
}

extension TestNamespace {
    /// Runs ip(8) with the words of a command.
    fileprivate func ip(_ command: String) throws {
        let words = command.split(separator: " ").map(String.init)
        _ = try ChildProcess.run(["ip", "-n", name] + words)
    }
}
