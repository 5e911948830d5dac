import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Synchronization
import Testing

/// Hosts that enrol with a token for one use, and keys that are revoked, on real servers.
@Suite struct EnrolmentTests {
    /// The fleet, and whoever answers hosts that enrol.
    private final class Desk {
        let fleet: TestFleet
        let program: RunningProgram

        init(_ nats: String, hosts: [String] = ["till-1", "till-2"]) throws {
            fleet = try TestFleet(hosts: hosts, nats: nats, hasTokens: true)
            program = try fleet.start("enroll", as: "admin", ["--accounts", fleet.accounts, "--serve"])
            #expect(try program.nextLine(within: .seconds(30)) == "waiting for hosts")
        }

        deinit { program.send(SIGKILL) }

        /// What `enroll` prints for a host, in a file.
        func ticket(_ host: String, _ options: [String] = []) throws -> String {
            let printed = try succeeding(
                TestFleet.program.run(["enroll", "--accounts", fleet.accounts, host] + options)
            ).standardOutput
            let file = "\(host)-\(printed.utf8.count)-\(UInt32.random(in: 0 ... .max)).token"
            return try fleet.directory.file(file, printed)
        }

        func join(_ file: String, _ ticket: String?) throws -> BuiltProgram.Result {
            try TestFleet.program.run(
                ["join", "--server", "nats://127.0.0.1:\(fleet.server.port)", "\(fleet.directory.path)/\(file).nk"]
                    + (ticket.map { ["--token", $0] } ?? []), limit: .seconds(60))
        }

        func credentials(_ file: String) throws -> NATSCredentials {
            try #require(NATSCredentials.read("\(fleet.directory.path)/\(file).nk"))
        }
    }

    private static func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a host makes its key, redeems its token once, and is in the list of hosts`(_ program: String) throws {
        let desk = try Desk(program)
        let ticket = try desk.ticket("new-1", ["--group", "tills", "--group", "Berlin"])
        let joined = try succeeding(desk.join("new-1", ticket))
        #expect(joined.standardOutput.hasPrefix("new-1: enrolled until "))
        #expect(Self.mode("\(desk.fleet.directory.path)/new-1.nk") == 0o600)
        let line = try desk.program.nextLine(within: .seconds(20))
        let own = try desk.credentials("new-1").key.publicKey
        #expect(line.hasPrefix("new-1: enrolled until ") && line.hasSuffix(own))
        // It may do what a host may, in its groups.
        let link = try desk.fleet.link(as: "new-1")
        for subject in ["$KV.reach_state.new-1", "$KV.reach_lease.new-1", "reach.v1.ev.new-1"] {
            #expect(failure { try JetStream(link).append(subject, [1]) } == nil, "\(subject)")
        }
        for group in ["tills", "Berlin"] {
            let subject = "$JS.API.DIRECT.GET.KV_reach_desired.$KV.reach_desired.group.\(group)"
            #expect(failure { try link.request(subject, [], within: .seconds(10)) } == nil, "\(group)")
        }
        #expect(failure { try JetStream(link).append("$KV.reach_state.till-1", [1]) } == .notPermitted)
        let status = try desk.fleet.run("status").standardOutput
        #expect(status.contains("new-1"), "\(status)")
        let audit = try desk.fleet.run("audit").standardOutput
        #expect(audit.contains("enrolled new-1: key U"), "\(audit)")
        // Its own token is renewed with the same key.
        let before = try desk.credentials("new-1")
        _ = try succeeding(desk.join("new-1", nil))
        let after = try desk.credentials("new-1")
        #expect(after.key.publicKey == before.key.publicKey && after.token.name == "new-1")
        #expect(after.token.groups == ["tills", "Berlin"])
        // The same key redeems the token again: the answer may have been lost.
        #expect(try desk.join("new-1", ticket).status == 0)
        let thief = try desk.join("thief", ticket)
        #expect(thief.status == 77)
        #expect(thief.standardError.contains("the token was used before, by the key \(after.key.publicKey)"))
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a token that is late, of another fleet, or redeemed alone is refused with the reason`(
        _ program: String
    ) throws {
        let desk = try Desk(program)
        let short = try desk.ticket("new-1", ["--valid", "1s"])
        let end = try #require(try NATSToken(Self.token(short)).expires)
        try waitUntil("the token's time is over") { Int64(time(nil)) > end }
        let late = try desk.join("new-1", short)
        #expect(late.status == 77)
        #expect(late.standardError.contains("the token's time is over since"), "\(late.standardError)")
        let first = try desk.ticket("new-2")
        let other = try Desk(program)
        let foreign = try desk.join("new-3", other.ticket("new-3"))
        #expect(foreign.status == 77)
        #expect(foreign.standardError.contains("the server does not accept the token"), "\(foreign.standardError)")
        let damaged = try desk.fleet.directory.file("damaged", "new-4 " + String(Self.token(first).dropLast(4)))
        #expect(try desk.join("new-4", damaged).status == 66)
        desk.program.send(SIGKILL)
        _ = try desk.program.finish()
        let nobody = try desk.join("new-5", desk.ticket("new-5"))
        #expect(nobody.status == 75)
        #expect(nobody.standardError.contains("nobody answers hosts that enrol now"), "\(nobody.standardError)")
    }

    /// The token in what `enroll` printed, without the seed.
    private static func token(_ file: String) throws -> String {
        let word = try #require(SmallFile.text(file)?.split(separator: " ").last)
        return word.split(separator: ".").prefix(3).joined(separator: ".")
    }

    /// Who has the token of one host can neither enrol another nor do anything else.
    @Test(arguments: NATSServerProcess.programs)
    func `the holder of a token for one use can do nothing but enrol its host`(_ program: String) throws {
        let desk = try Desk(program)
        let text = try #require(SmallFile.text(try desk.ticket("new-1"))?.split(separator: " ").last)
        let parts = text.split(separator: ".").map(String.init)
        let token = try NATSToken(parts.prefix(3).joined(separator: "."))
        let key = try NKeyPair(seed: parts[3].filter { !$0.isNewline })
        let refused = Mutex<[String]>([])
        let settings = try desk.fleet.server.settings {
            $0.identity = .token(token, key)
            $0.inbox = Enrolment.inbox(of: key.publicKey)
        }
        let link = try NATSLink.connect(settings) { event in
            if case .fault(let error) = event, error.kind == .notPermitted {
                refused.withLock { $0.append(error.description) }
            }
        }
        for subject in [
            "reach.v1.enroll.till-1.\(key.publicKey)", "reach.v1.enroll.new-1.x", "reach.v1.ev.new-1",
            "$KV.reach_state.new-1", "$KV.reach_hosts.new-1", "$JS.API.INFO", "$SYS.REQ.CLAIMS.UPDATE",
            "_INBOX.till-1.x",
        ] {
            try link.publish(subject, [])
            try waitUntil("publishing to \(subject) is refused") {
                refused.withLock { $0.contains { $0.contains("\"\(subject)\"") } }
            }
        }
        for subject in [">", "_INBOX_ENROLL.>", "_INBOX.>", "$KV.>", "reach.v1.enroll.>", "$KV.reach_desired.all"] {
            let subscription = try link.subscribe(subject) { _ in }
            try waitUntil("subscribing to \(subject) is refused") {
                refused.withLock { $0.contains { $0.contains("\"\(subject)\"") } }
            }
            withExtendedLifetime(subscription) {}
        }
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a revoked host is cut off at once and after a restart, and others stay connected`(_ program: String) throws {
        let desk = try Desk(program)
        let fleet = desk.fleet
        for host in ["new-1", "new-2"] { _ = try succeeding(desk.join(host, desk.ticket(host, ["--group", "tills"]))) }
        let closed = Mutex(false)
        let others = Mutex(0)
        let link = try fleet.link(as: "new-1") { event in
            if case .closed = event { closed.withLock { $0 = true } }
        }
        let stay = try fleet.link(as: "new-2") { event in
            if case .disconnected = event { others.withLock { $0 += 1 } }
        }
        let revoked = try fleet.run("revoke", as: "admin", ["--accounts", fleet.accounts, "new-1"])
        try fleet.expectSuccess(revoked)
        let key = try desk.credentials("new-1").key.publicKey
        #expect(revoked.standardOutput == "new-1: revoked, key \(key)\n")
        try waitUntil("the connection ends") { closed.withLock { $0 } }
        #expect(failure { try fleet.link(as: "new-1") } == .refused)
        // Neither renewing nor another token of the same key helps.
        #expect(try desk.join("new-1", nil).status == 77)
        let again = try desk.join("new-1", desk.ticket("new-1"))
        #expect(again.status == 77)
        #expect(again.standardError.contains("the key was revoked"), "\(again.standardError)")
        #expect(try JetStream(stay).append("$KV.reach_lease.new-2", [1]).sequence > 0)
        #expect(others.withLock { $0 } == 0)
        try fleet.server.restart()
        #expect(failure { try fleet.link(as: "new-1") } == .refused)
        let back = try fleet.link(as: "new-2")
        // Servers before 2.11 forgot imports of streams when a token came after a restart (nats-server 6498).
        try fleet.expectSuccess(
            fleet.run("revoke", as: "admin", ["--accounts", fleet.accounts, "--key", Self.key("till-1", fleet)]))
        let reports = try Self.reports(fleet)
        #expect(try JetStream(back).append("reach.v1.ev.new-2", [1]).sequence > 0)
        #expect(failure { try fleet.link(as: "till-2") } == nil)
        try waitUntil("the server still reports connections") { try Self.reports(fleet) > reports }
        withExtendedLifetime(back) {}
        // With a new key it gets in again.
        #expect(unlink("\(fleet.directory.path)/new-1.nk") == 0)
        // Servers before 2.10 say nothing where nobody listens, so that each attempt waits for an answer.
        try waitUntil("the desk has its connection again", within: .seconds(90)) {
            try desk.join("new-1", desk.ticket("new-1")).status == 0
        }
        #expect(failure { try fleet.link(as: "new-1") } == nil)
        withExtendedLifetime((link, stay)) {}
    }

    /// The folder is what counts: a server whose store is older learns from it what was revoked.
    @Test(arguments: NATSServerProcess.programs)
    func `a server that lost its store refuses revoked keys once it has the accounts' tokens again`(
        _ program: String
    ) throws {
        let fleet = try TestFleet(nats: program, hasTokens: true)
        try fleet.expectSuccess(
            fleet.run("revoke", as: "admin", ["--accounts", fleet.accounts, "--key", Self.key("till-1", fleet)]))
        #expect(failure { try fleet.link(as: "till-1") } == .refused)
        fleet.server.kill()
        try ChildProcess.run(["rm", "-r", fleet.directory.path + "/store"])
        try fleet.server.restart()
        try fleet.expectSuccess(fleet.run("revoke", as: "admin", ["--accounts", fleet.accounts]))
        #expect(failure { try fleet.link(as: "till-1") } == .refused)
        #expect(failure { try fleet.link(as: "till-2") } == nil)
        #expect(try fleet.run("revoke", as: "admin", ["--accounts", fleet.accounts, "till-9"]).status == 3)
    }

    /// The agent reads the file again at each connection, so it connects by the token that `join` renewed.
    @Test(arguments: NATSServerProcess.programs)
    func `an agent reports with the token that its host got, and with a renewed one`(_ program: String) throws {
        let desk = try Desk(program)
        _ = try succeeding(desk.join("new-1", desk.ticket("new-1", ["--group", "tills"])))
        let agent = try TestAgent("new-1", in: desk.fleet)
        let reader = JetStream(try desk.fleet.link(as: "reader"))
        func leases() throws -> UInt64 { try reader.entry("new-1", in: FleetNames.lease)?.revision ?? 0 }
        try waitUntil("the agent renews its lease") { try leases() > 0 }
        let before = try desk.credentials("new-1").token
        // Tokens of the same second are the same but for their signatures.
        try waitUntil("another second") { Int64(time(nil)) > before.issued }
        _ = try succeeding(desk.join("new-1", nil))
        #expect(try desk.credentials("new-1").token != before)
        try desk.fleet.server.restart()
        let again = JetStream(try desk.fleet.link(as: "reader"))
        let old = try again.entry("new-1", in: FleetNames.lease)?.revision ?? 0
        try waitUntil("the agent is back", within: .seconds(60)) {
            try again.entry("new-1", in: FleetNames.lease)?.revision ?? 0 > old
        }
        withExtendedLifetime(agent) {}
    }

    /// How many connections the server has reported.
    private static func reports(_ fleet: TestFleet) throws -> Int64 {
        let stream = try JetStream(fleet.link(as: "reader")).stream(FleetNames.connections)
        return stream?["state"]?["messages"]?.integer ?? 0
    }

    /// The server keeps streams in a folder with the account's name.
    @Test(arguments: NATSServerProcess.programs)
    func `a fleet with a list goes over to tokens, and keeps its streams`(_ program: String) throws {
        let fleet = try TestFleet(nats: program)
        let path = fleet.directory.path
        var host = try FakeHost("till-1", in: fleet)
        try host.send(.notReachable)
        host.link.close()
        fleet.server.kill()
        let text = try succeeding(
            TestFleet.program.run([
                "config", "--accounts", fleet.accounts, "--listen", "127.0.0.1:-1", "--store", path + "/store", "--for",
                fleet.version,
            ])
        ).standardOutput
        let lines = text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
        let account = try #require(
            lines.firstIndex(of: "# REACH").flatMap { lines[$0 + 1].split(separator: ":").first })
        try ChildProcess.run(["mv", path + "/store/jetstream/REACH", "\(path)/store/jetstream/\(account)"])
        try fleet.directory.file("server.conf", "ports_file_dir: \"\(path)\"\n" + text)
        try fleet.server.restart()
        try fleet.addToken("reader", ["--role", "reader"])
        try fleet.addToken("till-1", ["--group", "tills"])
        #expect(try fleet.run("events").lines.count == 1)
        #expect(try fleet.run("status").standardOutput.contains("till-1"))
        var back = try FakeHost("till-1", in: fleet)
        back.tail = host.tail
        back.n = host.n
        try back.send(.reachable)
        #expect(try fleet.run("events").lines.count == 2)
    }

    private static func key(_ user: String, _ fleet: TestFleet) throws -> String {
        try firstLine(TestFleet.program.run(["key", "\(fleet.directory.path)/\(user).nk"]))
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a token that ended is refused, and doctor names the host before`(_ program: String) throws {
        let desk = try Desk(program)
        desk.program.send(SIGKILL)
        let short = try desk.fleet.start(
            "enroll", as: "admin", ["--accounts", desk.fleet.accounts, "--serve", "--for", "8s"])
        defer { short.send(SIGKILL) }
        #expect(try short.nextLine(within: .seconds(30)) == "waiting for hosts")
        _ = try succeeding(desk.join("new-1", desk.ticket("new-1")))
        let closed = Mutex<NATSError?>(nil)
        let link = try desk.fleet.link(as: "new-1") { event in
            if case .closed(let error) = event { closed.withLock { $0 = error } }
        }
        let agent = try TestAgent("new-1", in: desk.fleet)
        try waitUntil("the agent is connected") { agent.word == "connected" }
        let findings = try desk.fleet.run("doctor").standardOutput
        #expect(findings.contains("the token of new-1 ends within 30 days"), "\(findings)")
        try waitUntil("the server ends the connection") { closed.withLock { $0 } != nil }
        #expect(closed.withLock { $0?.kind } == .tokenEnded)
        #expect(closed.withLock { $0?.description.contains("User Authentication Expired") } == true)
        try waitUntil("the agent says token-ended") { agent.word == "token-ended" }
        #expect(agent.error?.hasPrefix("the token ended at ") == true, "\(agent.error ?? "")")
        // The server counts in whole seconds.
        try waitUntil("the token is refused") { failure { try desk.fleet.link(as: "new-1") } == .refused }
        #expect(try desk.fleet.run("doctor").standardOutput.contains("the token of new-1 ended"))
        withExtendedLifetime(link) {}
    }

    /// The server ends the connection of the old token, and the file has the new one.
    @Test(arguments: NATSServerProcess.programs)
    func `an agent whose token ends goes on with the one that its host got meanwhile`(_ program: String) throws {
        let desk = try Desk(program)
        desk.program.send(SIGKILL)
        let short = try desk.fleet.start(
            "enroll", as: "admin", ["--accounts", desk.fleet.accounts, "--serve", "--for", "8s"])
        #expect(try short.nextLine(within: .seconds(30)) == "waiting for hosts")
        _ = try succeeding(desk.join("new-1", desk.ticket("new-1")))
        let agent = try TestAgent("new-1", in: desk.fleet)
        try waitUntil("the agent is connected") { agent.word == "connected" }
        short.send(SIGKILL)
        _ = try short.finish()
        let long = try desk.fleet.start("enroll", as: "admin", ["--accounts", desk.fleet.accounts, "--serve"])
        defer { long.send(SIGKILL) }
        #expect(try long.nextLine(within: .seconds(30)) == "waiting for hosts")
        _ = try succeeding(desk.join("new-1", nil))
        try waitUntil("the agent connects again") { agent.reconnects == 2 && agent.word == "connected" }
        let log = try agent.stop()
        #expect(!log.contains("token-ended") && !log.contains("refused"), "\(log)")
    }

    @Test(arguments: NATSServerProcess.programs)
    func `of two tokens of one second the later one is good after the first was used, and not before`(
        _ program: String
    ) throws {
        let desk = try Desk(program)
        for (host, order) in [("new-1", [0, 1]), ("new-2", [1, 0])] {
            let tickets = try twoTickets(host, desk)
            let results = try order.map { try desk.join("\(host)-\($0)", tickets[$0]) }
            #expect(results[0].status == 0, "\(results[0].standardError)")
            #expect(results[1].status == (order == [0, 1] ? 0 : 77), "\(results[1].standardError)")
            #expect(results[1].standardError.contains("a newer token of this host was used") == (order == [1, 0]))
        }
    }

    /// Two tokens for one use that were made in the same second.
    private func twoTickets(_ host: String, _ desk: Desk) throws -> [String] {
        var files: [String] = []
        try waitUntil("two tokens of one second") {
            let printed = try succeeding(
                TestFleet.program.run(["enroll", "--accounts", desk.fleet.accounts, host, host])
            ).lines
            files = try printed.enumerated().map { try desk.fleet.directory.file("\(host)-\($0).token", $1 + "\n") }
            return Set(try files.map { try NATSToken(Self.token($0)).issued }).count == 1
        }
        return files
    }

    @Test(arguments: NATSServerProcess.programs)
    func `a list in a file does not replace what enrolled`(_ program: String) throws {
        let desk = try Desk(program)
        _ = try succeeding(desk.join("new-1", desk.ticket("new-1")))
        let result = try desk.fleet.run("setup", as: "admin", ["--hosts", desk.fleet.directory.path + "/hosts"])
        #expect(result.status == 1)
        #expect(result.standardError.contains("'new-1' enrolled itself"))
    }

    @Test func `the folder of the accounts and its files are its owner's, and config twice says the same`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/accounts"
        let arguments = ["config", "--accounts", path, "--listen", "127.0.0.1:4222", "--store", "/x"]
        let first = try succeeding(TestFleet.program.run(arguments))
        #expect(try succeeding(TestFleet.program.run(arguments)).standardOutput == first.standardOutput)
        #expect(Self.mode(path) == 0o700)
        let names = try DirectoryNames.read(path)
        #expect(names.count == 15)
        for name in names { #expect(Self.mode("\(path)/\(name)") == 0o600, "\(name)") }
        let seed = try #require(SmallFile.text(path + "/sign-host.nk")?.split(separator: "\n").first)
        #expect(!first.standardOutput.contains(seed))
        // A file that others can read is not used.
        #expect(chmod(path + "/sign-token.nk", 0o644) == 0)
        let open = try TestFleet.program.run(["enroll", "--accounts", path, "a"])
        #expect(open.status == 66 && open.standardError.contains("chmod 600"))
    }

    @Test(arguments: [
        (["enroll", "--accounts", "x"], 2, "hosts are missing"),
        (["enroll", "--accounts", "x", "--serve", "a"], 2, "no hosts"),
        (["enroll", "--accounts", "/none", "a"], 66, "/none/sign-token.nk"),
        (["enroll", "--accounts", "x", "a.b"], 2, "identity"),
        (["enroll", "--accounts", "x", "a", "--for", "500d"], 2, "400d"),
        (["sign", "--accounts", "x", "a", "UABC"], 2, "public half"),
        (["sign", "--accounts", "x", "a", "U", "--role", "x"], 2, "role"),
        (["revoke", "--accounts", "x", "--key", "U"], 2, "public half"),
        (["join", "/none/x", "--server", "nats://127.0.0.1:1"], 66, "/none/x"),
        (["join", "/none/x", "--token", "/none/y"], 66, "/none/y"),
        (["config", "--accounts", "x", "--hosts", "y", "--listen", "127.0.0.1:1"], 2, "nobody is listed"),
    ])
    func `bad input has its exit status and names the thing`(
        _ arguments: [String], _ status: CInt, _ part: String
    ) throws {
        let result = try TestFleet.program.run(arguments, environment: ["REACH_FLEET_SERVER": nil])
        #expect(result.status == status, "\(result.standardError)")
        #expect(result.standardError.contains(part), "\(result.standardError)")
    }
}
