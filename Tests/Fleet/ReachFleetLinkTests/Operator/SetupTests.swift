import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// `reach-fleet setup`, `key`, `config` and `doctor`, as an operator runs them.
@Suite struct SetupTests {
    private static func json(_ line: String) throws -> JSONValue { try JSONReader.read(Array(line.utf8)) }

    @Test(arguments: NATSServerProcess.programs)
    func `setup twice changes nothing`(_ program: String) throws {
        let fleet = try TestFleet(nats: program, isSetUp: false)
        let arguments = ["--json", "--hosts", fleet.directory.path + "/hosts"]
        let first = try fleet.run("setup", as: "admin", arguments)
        #expect(first.status == 0, "\(first.standardError)")
        let made = try first.lines.map(Self.json)
        #expect(made.dropLast().allSatisfy { $0["outcome"]?.string == "created" })
        #expect(made.count == 9)
        #expect(made.last?["changed"]?.integer == 2)
        let admin = try fleet.link(as: "admin")
        let before = try configurations(admin)
        let second = try fleet.run("setup", as: "admin", arguments)
        #expect(second.status == 0)
        let found = try second.lines.map(Self.json)
        #expect(found.dropLast().allSatisfy { $0["outcome"]?.string == "unchanged" }, "\(second.standardOutput)")
        #expect(found.last?["changed"]?.integer == 0)
        #expect(try configurations(admin) == before)
    }

    private func configurations(_ link: NATSLink) throws -> [JSONValue?] {
        try FleetPlan(version: .advised).streams.map { try JetStream(link).stream($0.name)?["config"] }
    }

    @Test func `setup says what differs, tightens on request and never loosens`() throws {
        let fleet = try TestFleet(isSetUp: false)
        let admin = JetStream(try fleet.link(as: "admin"))
        _ = try admin.createStream(
            "REACH_EVENTS",
            Array(
                """
                {"name":"REACH_EVENTS","subjects":["reach.v1.ev.*"],"storage":"file","retention":"limits","discard":"old",
                "max_age":3600000000000,"max_msg_size":-1,"num_replicas":1}
                """.utf8))
        let differing = try fleet.run("setup", as: "admin")
        #expect(differing.status == 1)
        #expect(differing.standardOutput.contains("REACH_EVENTS: differs"))
        #expect(differing.standardOutput.contains("max_msg_size is -1, not 131072: --update sets it"))
        #expect(differing.standardOutput.contains("max_age is 3600000000000, not 2592000000000000: left as it is"))
        #expect(try admin.stream("REACH_EVENTS")?["config"]?["max_msg_size"]?.integer == -1)
        let updated = try fleet.run("setup", as: "admin", ["--update"])
        #expect(updated.status == 1)
        let now = try #require(try admin.stream("REACH_EVENTS")?["config"])
        #expect(now["max_msg_size"]?.integer == 131_072)
        #expect(now["max_age"]?.integer == 3_600_000_000_000)
        #expect(now["allow_direct"]?.bool == true)
        let agreed = try fleet.run("setup", as: "admin", ["--event-age", "1h"])
        #expect(agreed.status == 0, "\(agreed.standardOutput)")
    }

    @Test func `a reader cannot set up`() throws {
        let fleet = try TestFleet(isSetUp: false)
        let result = try fleet.run("setup")
        #expect(result.status == 77)
        #expect(result.standardError.contains("Permissions Violation"))
    }

    @Test func `a key is made once, its seed stays in a file of its owner`() throws {
        let directory = try TemporaryDirectory()
        let file = directory.path + "/host.nk"
        let made = try TestFleet.program.run(["key", file])
        #expect(made.status == 0)
        let half = try #require(made.lines.first)
        #expect(half.hasPrefix("U") && half.utf8.count == 56)
        // The seed is on no line. Its two letters may be anywhere in a public half.
        #expect(made.lines.count == 1)
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(try TestFleet.program.run(["key", file]).lines == [half])
        let shown = try TestFleet.program.run(["key", "--print-seed", file])
        #expect(shown.lines.last == SmallFile.text(file)?.split(separator: "\n").first.map(String.init))
        let other = try TestFleet.program.run(["key", "--new", "--json", file])
        let json = try Self.json(firstLine(other))
        #expect(json["public"]?.string != half)
        #expect(json["made"]?.bool == true)
        #expect(json["seed"] == nil)
        #expect(try TestFleet.program.run(["key", directory.path + "/no/such/file"]).status == 73)
    }

    @Test func `the public half is the one that NATS's own signature fits`() throws {
        // The server checks the signature that libnats makes with the seed against this public half.
        let fleet = try TestFleet(isSetUp: false)
        #expect(failure { try fleet.link(as: "till-1") } == nil)
    }

    @Test func `a list of hosts that is wrong is named by file and line`() throws {
        let directory = try TemporaryDirectory()
        let seed = try NKeyPair.generate().seed
        let file = try directory.file("hosts", "# a\n\ntill-1 \(seed)\n")
        let result = try TestFleet.program.run(["config", "--listen", "127.0.0.1:4222", "--hosts", file])
        #expect(result.status == 66)
        #expect(result.standardError.contains("hosts, line 3: the key: it is a seed, which must stay secret"))
        #expect(!result.standardError.contains(seed))
        #expect(try TestFleet.program.run(["config", "--listen", "127.0.0.1:1", "--hosts", "/none"]).status == 66)
    }

    @Test(arguments: [
        ["--listen", "0.0.0.0:4222"], ["--tls-key", "/a"], ["--listen", "a\"b"], ["--store-size", "10"],
        ["--for", "2.8.1"], ["--for", "x"], ["--reader", "UABC"],
    ])
    func `config refuses what would not work or not be safe`(_ arguments: [String]) throws {
        let result = try TestFleet.program.run(["config"] + arguments)
        #expect(result.status == 2)
        #expect(result.standardOutput.isEmpty)
    }

    @Test func `the printed configuration starts a server with TLS`() throws {
        let authority = try CertificateAuthority()
        let identity = try authority.issue("server", names: ["IP:127.0.0.1"])
        let directory = try TemporaryDirectory()
        let key = try firstLine(TestFleet.program.run(["key", directory.path + "/a.nk"]))
        let text = try succeeding(
            TestFleet.program.run([
                "config", "--listen", "127.0.0.1:-1", "--for", "2.9.10", "--store", directory.path + "/store",
                "--admin",
                key, "--tls-certificate", identity.certificatePath, "--tls-key", identity.keyPath, "--name", "n1",
            ])
        ).standardOutput
        let server = try NATSServerProcess(text, in: directory, listens: false)
        let url = "tls://127.0.0.1:\(server.port)"
        let access = ["--server", url, "--key-file", directory.path + "/a.nk"]
        #expect(try TestFleet.program.run(["setup"] + access).status == 76)
        let result = try TestFleet.program.run(["setup", "--ca", authority.root.certificatePath] + access)
        #expect(result.status == 0, "\(result.standardError)")
    }

    /// OpenSSL registers that all it has is freed, which a thread of libnats may be using: the process crashed now and
    /// then.
    @Test(
        .disabled(
            if: getenv("ASAN_OPTIONS") != nil || getenv("TSAN_OPTIONS") != nil,
            "a sanitizer's runtime must be the first library"),
        arguments: [
            (["--version"], 0), (["doctor", "--server", "nats://127.0.0.1:1"], 69), (["nonsense"], 2),
        ] as [([String], Int32)])
    func `the program ends without what libraries do at the end of a process`(
        _ arguments: [String], status: Int32
    ) throws {
        let directory = try TemporaryDirectory()
        let library = directory.path + "/atend.so"
        try ChildProcess.run(["cc", "-shared", "-fPIC", "-o", library, ProjectFile.path("Tests/Support/atend/atend.c")])
        let result = try TestFleet.program.run(arguments, environment: ["LD_PRELOAD": library])
        #expect(result.status == status, "\(result.standardError)")
    }

    @Test func `doctor finds an old server, missing streams and what was loosened`() throws {
        let fleet = try TestFleet(isSetUp: false)
        let missing = try fleet.run("doctor", as: "admin", ["--json"])
        #expect(missing.status == 1)
        let words = try missing.lines.map { try Self.json($0)["word"]?.string }
        #expect(words.filter { $0 == "missing" }.count == 8)
        #expect(words.contains("version"))
        #expect(words.contains("sync-interval"))
        #expect(!words.contains("open"))
        try fleet.expectSuccess(fleet.run("setup", as: "admin"))
        let admin = JetStream(try fleet.link(as: "admin"))
        var writer = JSONWriter()
        // As this server has it: the plan for an older one differs in more.
        guard case .object(var settings) = try admin.stream("REACH_EVENTS")?["config"] else {
            return #expect(Bool(false))
        }
        settings["max_msg_size"] = .integer(-1)
        writer.value(JSONValue.object(settings))
        _ = try admin.updateStream("REACH_EVENTS", writer.bytes)
        let differing = try fleet.run("doctor")
        #expect(differing.standardOutput.contains("REACH_EVENTS: max_msg_size differ from the plan"))
        #expect(!differing.standardOutput.contains("missing"))
    }

    @Test func `doctor finds a server that lets everybody in`() throws {
        let server = try NATSServerProcess()
        let result = try TestFleet.program.run(["doctor", "--json", "--server", "nats://127.0.0.1:\(server.port)"])
        let words = try result.lines.map { try Self.json($0)["word"]?.string }
        #expect(words.contains("open"))
    }

    @Test(arguments: [
        (["setup"], 2, "no server is named"), (["setup", "--server", "nats://127.0.0.1:1"], 69, "nats://127.0.0.1:1"),
        (["setup", "--server", "nats://nats.example.net"], 2, "without TLS"),
        (["setup", "--server", "nats://127.0.0.1:1", "--key-file", "/none"], 66, "key file '/none'"),
        (["status", "--where", "x and"], 2, "a condition is missing"), (["host", "a.b"], 2, "identity"),
        (["hold"], 2, "--all, --group and --host"), (["hold", "--all", "--fraction", "2"], 2, "5%"),
    ])
    func `bad input has its exit status and names the thing`(
        _ arguments: [String], _ status: CInt, _ part: String
    ) throws {
        let result = try TestFleet.program.run(arguments, environment: ["REACH_FLEET_SERVER": nil])
        #expect(result.status == status)
        #expect(result.standardError.contains(part), "\(result.standardError)")
    }

    @Test func `no JetStream has its word`() throws {
        let server = try NATSServerProcess("")
        let result = try TestFleet.program.run(["setup", "--server", "nats://127.0.0.1:\(server.port)"])
        #expect(result.status == 69)
        #expect(result.standardError.contains("JetStream off"))
    }
}
