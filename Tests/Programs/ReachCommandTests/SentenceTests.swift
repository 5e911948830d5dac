internal import Glibc
internal import ReachTesting
internal import Testing

/// What people are told when something is missing, full or waited for, as the programs print it.
@Suite(.timeLimit(.minutes(1))) struct SentenceTests {
    private let reach = BuiltProgram.reach
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [
        (["run", "--help"], 0, "Wait for conditions, then run COMMAND; also only while they hold."),
        (["queue", "--help"], 0, "List the requests that are on their way."),
        (
            ["history", "--state", "/nonexistent"], 1,
            "no history yet in /nonexistent; reachd records it: systemctl start"
        ),
        (
            ["wait", "--no-daemon", "--until", "internet"], 4,
            "\"internet\" needs reachd with [connectivity] endpoints; "
        ),
        (["probe", "10.9.9.9"], 4, "; try icmp://10.9.9.9"),
        (["probe", "--no-daemon", "10.9.9.9"], 2, "left out by --no-daemon; try icmp://10.9.9.9"),
    ])
    func `without a daemon the next step is named`(words: [String], status: CInt, sentence: String) throws {
        let elsewhere = ["REACH_SOCKET": directory.path + "/none", "COLUMNS": "200"]
        let result = try reach.run(words, environment: elsewhere)
        #expect(result.status == status)
        #expect((result.standardOutput + result.standardError).contains(sentence), "\(result)")
    }

    @Test(arguments: [
        "# Default for requests without --expires.", "# Failed `down` times in a row",
        "# Override what reach detects about interfaces.",
    ])
    func `the example of the configuration says what a key is for`(sentence: String) {
        #expect(ProjectFile.text("contrib/reach.toml").contains("\n" + sentence))
    }

    @Test func `a misspelt key is named with the one that was meant`() throws {
        let file = try directory.file("reach.toml", "[internet]\nanchor = []\n")
        let result = try BuiltProgram(named: "reachd").run(["--check-config", "--config", file])
        #expect(result.standardError.contains("reach.toml:2: internet.anchor: unknown key; did you mean 'anchors'?"))
    }

    /// Holds the port of the metrics, accepts every connection, and never answers.
    private static let silentServer = """
        import socket, time
        server = socket.create_server(("127.0.0.1", 9101))
        print("listening", flush=True)
        time.sleep(60)
        """

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a daemon says what requests wait for, what it knows, and what it could not do`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let server = try BuiltProgram(named: "python3").start(["-c", Self.silentServer], in: namespace.name)
        defer { server.send(SIGKILL) }
        _ = try server.nextLine()
        let file = try directory.file(
            "reach.toml",
            """
            [[interface]]
            match = "up0"
            class = "wifi"
            metered = true
            [queue]
            concurrency = 1
            [[probe]]
            name = "shop"
            target = "tcp://127.0.0.1:9101"
            interval = "1s"
            [metrics]
            listen = "127.0.0.1:9101"
            """)
        let socket = directory.path + "/socket"
        let daemon = try BuiltProgram(named: "reachd").start(
            ["--config", file, "--socket", socket, "--state", directory.path, "--events"], in: namespace.name)
        defer { daemon.send(SIGKILL) }
        _ = try daemon.nextLine()
        func says(_ sentence: String, _ words: String...) throws {
            let deadline = ContinuousClock.now + .seconds(10)
            var said = ""
            while !said.contains(sentence), ContinuousClock.now < deadline {
                let result = try reach.run(words, environment: ["REACH_SOCKET": socket], in: namespace.name)
                said = result.standardOutput + result.standardError
            }
            #expect(said.contains(sentence), "\(words): \(said)")
        }
        func add(_ words: String...) throws {
            let words = ["queue", "add"] + words
            let result = try reach.run(words, environment: ["REACH_SOCKET": socket], in: namespace.name)
            #expect(result.status == 0, "\(result)")
        }
        try says("Not tested beyond the gateway.", "explain")
        try add("--when", "unmetered", "http://192.0.2.1/")
        try says("The path to http://192.0.2.1:80, by up0, is metered.", "queue", "explain", "1")
        try add("http://127.0.0.1:9101/")
        try says("is running", "queue", "explain", "2")
        try add("http://127.0.0.1:9101/")
        try says("All transfer slots are in use.", "queue", "explain", "3")
        try namespace.run("ip", "link", "set", "up0", "down")
        try add("--when", "wifi", "http://192.0.2.1/")
        try says("Waiting for Wi-Fi: up0 is down.", "queue", "explain", "4")
        try says(
            "no history for 'office'; recorded: internet, probe:shop", "history", "--state", directory.path, "office")
        try says("try icmp://10.9.9.9", "probe", "10.9.9.9")
        daemon.send(SIGTERM)
        let log = try daemon.finish().standardError
        #expect(log.contains("metrics disabled: 127.0.0.1:9101 already in use"), "\(log)")
    }
}
