internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// Names of hosts as a user writes them, in a namespace with files and name servers of its own.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: getuid() == 0, "only root can give a program other files"), .timeLimit(.minutes(1)))
struct NameProgramTests {
    private final class Stage {
        let namespace: TestNamespace
        let peer: TestNamespace
        let directory: TemporaryDirectory

        init(hosts: String = "", resolv: String = "") throws {
            namespace = try TestNamespace()
            peer = try namespace.vethPair()
            directory = try TemporaryDirectory()
            _ = try directory.file("hosts", hosts)
            _ = try directory.file("nsswitch.conf", "hosts: files dns\n")
            _ = try directory.file("resolv.conf", resolv)
        }

        deinit { namespace.remove() }

        var socket: String { directory.path + "/socket" }

        /// Starts a program with these files in place of the machine's: `ip netns exec` gives each process mounts of
        /// its own.
        func start(_ program: BuiltProgram, _ words: [String]) throws -> RunningProgram {
            let script = """
                for file in hosts nsswitch.conf resolv.conf; do mount --bind "$0/$file" "/etc/$file" || exit; done; exec "$@"
                """
            return try BuiltProgram(named: "/bin/sh").start(
                ["-c", script, directory.path, program.path] + words, in: namespace.name)
        }

        func daemon() throws -> RunningProgram {
            let daemon = try start(
                BuiltProgram(named: "reachd"), ["--socket", socket, "--state", directory.path + "/state", "--events"])
            _ = try daemon.nextLine()
            return daemon
        }

        func reach(_ words: String...) throws -> BuiltProgram.Result { try start(.reach, words).finish() }

        /// Queues a request and waits until it is done.
        func deliver(_ words: String...) throws {
            let added = try start(.reach, ["queue", "add", "--socket", socket] + words).finish()
            let number = try #require(added.lines.first, "\(added)")
            #expect(try reach("queue", "wait", number, "--timeout", "20s", "--socket", socket).status == 0)
        }
    }

    @Test func `a name with letters outside ASCII is that of its xn-- form, and only it loads libidn2`() throws {
        let stage = try Stage(hosts: "192.0.2.1 xn--mnchen-3ya.example\n127.0.0.1 localhost\n")
        for name in ["münchen.example", "MÜNCHEN.example", "https://münchen.example/ä", "xn--mnchen-3ya.example"] {
            let result = try stage.reach("status", "--no-daemon", "--json", name)
            #expect(result.status == 0 && result.standardOutput.contains("\"target\":\"\(name)\""), "\(result)")
        }
        let loaded = { (name: String) in
            try stage.start(
                BuiltProgram(named: "/bin/sh"),
                ["-c", "LD_DEBUG=files '\(BuiltProgram.reach.path)' status --no-daemon \(name) 2>&1"]
            ).finish().standardOutput.contains("libidn2.so")
        }
        #expect(try loaded("münchen.example"))
        #expect(try !loaded("xn--mnchen-3ya.example"))
        let refused = try stage.reach("status", "--no-daemon", "a℀b.example")
        #expect(refused.status == 2 && refused.standardError.contains("'a℀b.example' is not a host name"), "\(refused)")
    }

    @Test func `queue and probe send the same host as curl, and follow a redirect to such a host`() throws {
        let stage = try Stage(hosts: "192.0.2.1 xn--mnchen-3ya.example xn--strae-oqa.example xn--i-7iq.example\n")
        let server = try ScriptedServer(in: stage.peer, at: IPAddress(ipv4: 0xc000_0201), port: 8080) { connection in
            let moved = connection.readRequest().contains("/moved")
            connection.write(
                moved
                    ? "HTTP/1.1 302 Found\r\nLocation: http://straße.example:8080/there\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let daemon = try stage.daemon()
        let curl = BuiltProgram(named: "curl")
        for url in ["http://MÜNCHEN.example:8080/ä", "http://straße.example:8080/", "http://i❤.example:8080/"] {
            #expect(try stage.start(curl, ["-sS", url]).finish().status == 0)
            try stage.deliver(url)
            #expect(try stage.reach("probe", "--socket", stage.socket, url).status == 0)
            #expect(try stage.reach("probe", "--no-daemon", url).status == 0)
        }
        let hosts = server.requests.values.map(Self.host)
        let sent = ["xn--mnchen-3ya", "xn--strae-oqa", "xn--i-7iq"].map { $0 + ".example:8080" }
        #expect(hosts == sent.flatMap { Array(repeating: $0, count: 4) })
        let moved = "http://xn--mnchen-3ya.example:8080/moved"
        try stage.deliver("--location", moved)
        #expect(server.requests.values.suffix(2).map(Self.host) == [sent[0], sent[1]])
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }

    /// The value of the field Host, without regard to case.
    private static func host(of request: String) -> String {
        request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("host: ") }
            .map { $0.dropFirst(6).lowercased() } ?? ""
    }

    @Test func `the daemon waits as long for a slow name server as the command without one`() throws {
        // The first server is silent; after three seconds the C library asks the second one.
        let stage = try Stage(
            resolv: "nameserver 192.0.2.1\nnameserver 192.0.2.53\noptions timeout:3 attempts:1\n")
        try stage.peer.run("ip", "address", "add", "192.0.2.53/32", "dev", "up1")
        let names = try NameServer(["--host-record=slow.example,192.0.2.1"], port: 53, in: stage.peer)
        defer { withExtendedLifetime(names) {} }
        try stage.peer.run("nft", "add table ip quiet; add chain ip quiet in { type filter hook input priority 0; }")
        try stage.peer.run("nft", "add rule ip quiet in ip daddr 192.0.2.1 udp dport 53 drop")
        let daemon = try stage.daemon()
        for words in [["status"], ["explain"]] {
            for source in [["--socket", stage.socket], ["--no-daemon"]] {
                let result = try stage.start(.reach, words + ["--json", "slow.example"] + source).finish()
                #expect(result.status == 0, "\(words) \(source): \(result)")
                #expect(result.standardOutput.contains("\"status\":\"reachable\""))
            }
        }
        // Neither server answers: that the name is not resolved comes in time, from the daemon itself.
        try stage.peer.run("nft", "add rule ip quiet in udp dport 53 drop")
        // Two of a user's costly questions are answered at once.
        let asked = try (0..<2).map { number in
            try stage.start(.reach, ["explain", "--json", "other\(number).example", "--socket", stage.socket])
        }
        for client in asked {
            let result = try client.finish()
            #expect(result.status == 3 && result.standardOutput.contains("name-not-resolved"), "\(result)")
        }
        daemon.send(SIGTERM)
        #expect(try daemon.finish().status == 0)
    }
}
