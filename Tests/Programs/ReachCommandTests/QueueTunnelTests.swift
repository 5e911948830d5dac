internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// The queue of a machine with a VPN for everything, whose server is dead.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct QueueTunnelTests {
    /// The packets for a host that left by the uplink, as its other end counts them.
    private static func count(_ peer: TestNamespace) throws -> String {
        try peer.run("nft", "list", "counter", "inet", "watch", "past")
    }

    @Test func `a request waits for a VPN whose server is dead`() async throws {
        guard (try? BuiltProgram(named: "/usr/sbin/nft").run(["--version"]).status) == 0 else {
            return print("skipped: there is no nft that could count packets")
        }
        let machine = try TestNamespace()
        defer { machine.remove() }
        let peer = try machine.vethPair()
        try peer.run("ip", "address", "add", "203.0.113.7/32", "dev", "lo")
        try peer.run("nft", "add", "table", "inet", "watch")
        try peer.run("nft", "add", "counter", "inet", "watch", "past")
        try peer.run("nft", "add", "chain", "inet", "watch", "in", "{ type filter hook prerouting priority 0; }")
        try peer.run(
            "nft", "add", "rule", "inet", "watch", "in", "ip", "daddr", "203.0.113.7", "counter", "name", "past")
        let server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xcb00_7107), port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        }
        // Nothing answers at its far end.
        for command in [
            "link add vpn0 type vxlan id 7 remote 192.0.2.99 dstport 4789", "link set vpn0 addrgenmode none up",
            "address add 198.18.9.2/24 dev vpn0", "route add default dev vpn0 table 51820",
            "rule add not fwmark 51820 lookup 51820 pref 5210",
            "rule add lookup main suppress_prefixlength 0 pref 5209",
        ] {
            _ = try ChildProcess.run(["ip", "-n", machine.name] + command.split(separator: " ").map(String.init))
        }
        let directory = try TemporaryDirectory()
        let file = try directory.file(
            "reach.toml",
            """
            [connectivity]
            endpoints = ["http://203.0.113.7/"]
            timeout = "1s"
            [[interface]]
            match = "up0"
            class = "wired"
            [[probe]]
            name = "uplink"
            target = "tcp://203.0.113.7:80"
            interface = "up0"
            interval = "1s"
            """)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path + "/state", "--events"], in: machine.name)
        _ = try daemon.nextLine(within: .seconds(20))
        let url = "http://203.0.113.7/"
        var ids: [String] = []
        for words in [["-d", "x", url], ["--when", "wired", url], ["--when", "interface=up0", url]] {
            let added = try BuiltProgram.reach.run(["queue", "add", "--socket", socket] + words)
            #expect(added.status == 0)
            ids.append(added.standardOutput.split(separator: "\n").first.map(String.init) ?? "")
        }
        // Longer than the settling of a path, a check and the first attempts.
        try await Task.sleep(for: .seconds(8))
        #expect(server.requests.values.isEmpty)
        let count = try Self.count(peer)
        #expect(count.contains("packets 0 "), "\(count)")
        let why = try BuiltProgram.reach.run(["queue", "explain", ids[2], "--socket", socket]).standardOutput
        #expect(why.contains("tunnel vpn0"), "\(why)")
        // Without the tunnel, all go out.
        try machine.run("ip", "rule", "del", "pref", "5210")
        for id in ids {
            let end = try BuiltProgram.reach.run(["queue", "wait", id, "--timeout", "30", "--socket", socket])
            #expect(end.status == 0, "\(end)")
        }
        #expect(server.requests.values.count >= 3)
        daemon.send(SIGTERM)
        #expect(try daemon.finish(within: .seconds(3)).status == 0)
    }
}
