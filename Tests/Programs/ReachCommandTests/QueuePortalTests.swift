internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// The queue of a daemon whose network announces a portal's API.
@Suite(
    .enabled(if: PortalNetwork.whyNot == nil, "\(PortalNetwork.whyNot ?? "")"),
    .enabled(if: getuid() == 0, "only root can give a program other files"), .timeLimit(.minutes(1)))
struct QueuePortalTests {
    @Test func `nothing queued leaves before the API of the portal says that it is open`() async throws {
        let network = try PortalNetwork()
        let small = network.small
        try network.answer(#"{"captive": true, "user-portal-url": "https://login.example/"}"#)
        let directory = try TemporaryDirectory()
        let file = try directory.file(
            "reach.toml",
            "[connectivity]\nendpoints = [\"\(SmallInternet.plain)\"]\ninterval = \"10s\"\ntimeout = \"1s\"\n")
        let mounts = [
            (try small.resolverConfiguration(), "/etc/resolv.conf"),
            (small.authorityPath, "/etc/ssl/certs/ca-certificates.crt"),
        ].map { "mount --bind \($0) \($1) && " }.joined()
        let socket = directory.path + "/socket"
        // `ip netns exec` gives each process mounts of its own.
        let daemon = try BuiltProgram(named: "/bin/sh").start(
            [
                "-c",
                "\(mounts)exec \(BuiltProgram(named: "reachd").path) --config \(file) --socket \(socket) "
                    + "--state \(directory.path)/state --events",
            ], in: small.machine.name)
        func line(_ parts: String...) throws -> String {
            while true {
                let line = try daemon.nextLine(within: .seconds(20))
                if parts.allSatisfy(line.contains) { return line }
            }
        }
        // The endpoint answers as expected: the portal lets it pass, as many do.
        _ = try line("\"connectivity\":\"full\"")
        try network.advertise()
        let portal = try line("\"connectivity\":\"portal\"")
        #expect(portal.contains("https://login.example/"))
        // The portal lets these pass, too, and reads them; the queue must not send them.
        let server = try ScriptedServer(in: small.internet, at: IPAddress(ipv4: 0xc633_6450), port: 8081) {
            connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let url = "http://198.51.100.80:8081/"
        for words in [
            ["-d", "body", url + "body"], ["-H", "Authorization: x", url + "key"],
            ["--when", "validated", url + "when"], [url + "plain"],
        ] {
            #expect(try BuiltProgram.reach.run(["queue", "add"] + words + ["--socket", socket]).status == 0)
        }
        // Two answers of the API later, five and ten seconds, it is still closed.
        #expect(try await network.waitForQuestion(3))
        let why = try BuiltProgram.reach.run(["queue", "list", "--socket", socket]).standardOutput
        #expect(
            why.split(separator: "\n").filter { $0.contains("not-validated") || $0.contains("(validated)") }.count == 4,
            "\(why)")
        #expect(server.requests.values.isEmpty)
        try network.answer(#"{"captive": false}"#)
        _ = try line("\"connectivity\":\"full\"")
        for _ in 0..<4 { _ = try line("\"event\":\"done\"") }
        #expect(server.requests.values.count == 4)
        daemon.send(SIGTERM)
        #expect(try daemon.finish(within: .seconds(3)).status == 0)
    }
}
