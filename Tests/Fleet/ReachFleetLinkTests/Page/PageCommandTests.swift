import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Testing

/// `reach-fleet outages`, `page` and `export` against a real server.
@Suite(
    .enabled(if: TestProgram.path("nats-server") != nil, "nats-server is not installed (apt-get install nats-server)"))
struct PageCommandTests {
    private let server: NATSServerProcess
    private let jetStream: JetStream

    init() throws {
        server = try NATSServerProcess()
        jetStream = JetStream(try server.connect())
        #expect(try run("setup").status == 0)
    }

    private init(_ server: NATSServerProcess, _ jetStream: JetStream) {
        (self.server, self.jetStream) = (server, jetStream)
    }

    @discardableResult
    private func run(_ command: String, _ arguments: String...) throws -> BuiltProgram.Result {
        try BuiltProgram(named: "reach-fleet").run(
            [command, "--server", "nats://127.0.0.1:\(server.port)"] + arguments, limit: .seconds(60))
    }

    private func start(_ command: String, _ arguments: String...) throws -> RunningProgram {
        try BuiltProgram(named: "reach-fleet").start(
            [command, "--server", "nats://127.0.0.1:\(server.port)"] + arguments)
    }

    /// A host that is connected, and says that its gateway does not answer since some seconds.
    private func addHost(_ id: String, site: String, away: Double? = nil) throws {
        let now = SystemClock.now
        var state = HostState(host: id, version: "1", written: now, boot: "b", lease: .seconds(120))
        state.labels = ["site": site]
        state.status = HostStatus(
            away == nil ? .reachable : .notReachable, reason: away == nil ? nil : .gatewayUnreachable,
            linkClass: away == nil ? .wifi : nil, since: now.wall + .seconds(-(away ?? 0)))
        try jetStream.put(id, in: FleetNames.state, state.bytes)
        try jetStream.put(
            id, in: FleetNames.lease, HostLease(boot: "b", n: 1, since: now.wall, behind: 0).bytes)
        guard let away else { return }
        let moment = Instant(wall: now.wall + .seconds(-away), boot: now.boot + .seconds(-away))
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "change")
            json.field("time", moment.wall)
            json.field("boottime_ns", moment.boot.nanoseconds)
            json.field("log", "l")
            json.field("n", 1)
            json.field("cause", "neighbour")
            json.key("status")
            state.status?.write(to: &json)
        }
        let chunk = EventChunk(log: "l", first: 1, last: 1, boot: "b", eventBoot: "b", sent: now, lines: [json.bytes])
        _ = try jetStream.append(FleetNames.eventSubject(of: id), headers: chunk.headers(expecting: 0), chunk.payload)
    }

    private func addSites() throws {
        for index in 0..<8 { try addHost("a\(index)", site: "a", away: index < 7 ? 30 : nil) }
        for index in 0..<9 { try addHost("b\(index)", site: "b") }
    }

    @Test func `outages says which hosts went away together, and what they share`() throws {
        try addSites()
        let result = try run("outages")
        #expect(result.status == 0, "\(result.standardError)")
        let line = try #require(result.lines.first)
        #expect(line.hasPrefix("7 of 8 hosts with site=a not reachable since "))
        #expect(line.hasSuffix(", within 1 s: the gateway does not answer"))
        let lines = try run("outages", "--json").lines
        #expect(try fleetFaults(in: lines) == [])
        let json = try JSONReader.read(Array(lines[0].utf8))
        #expect(json["shared"]?["by"] == .string("site") && json["shared"]?["value"] == .string("a"))
        #expect(json["hosts"]?.array?.count == 7 && json["confirmed"] == .integer(7))
        #expect(json["open"] == .bool(true) && json["back"] == .integer(0))
    }

    @Test func `without an outage it says so and ends with 1`() throws {
        try addHost("a", site: "a")
        let result = try run("outages")
        #expect(result.status == 1 && result.standardOutput.isEmpty)
        #expect(result.standardError == "reach-fleet: no outage in the last 1 d 0 h\n")
        try addSites()
        #expect(try run("outages", "--by", "class").standardOutput.isEmpty)
        #expect(try run("outages", "--since", "10s").standardOutput.isEmpty)
    }

    @Test func `a file of prefixes that is wrong is an error that names the line`() throws {
        let file = try server.directory.file("asn", "203.0.113.0/24 64500\nnonsense\n")
        let result = try run("outages", "--asn", file)
        #expect(result.status == 66)
        #expect(result.standardError.contains("line 2: 'nonsense' is not PREFIX NUMBER [NAME]"))
        #expect(try run("outages", "--asn", "/nowhere").status == 66)
        #expect(try run("outages", "--by", "a,").status == 2)
        #expect(try run("page", "--output", "x", "--interval", "100ms").status == 2)
    }

    @Test func `the page is written as a whole, with all hosts`() throws {
        try addSites()
        let file = server.directory.path + "/fleet.html"
        #expect(try run("page", "--output", file, "--title", "Tills").status == 0)
        let text = try #require(SmallFile.text(file, limit: 1 << 20))
        for index in 0..<9 { #expect(text.contains("\"b\(index)\"")) }
        #expect(text.contains("\"title\":\"Tills\"") && text.contains("7 of 8 hosts with site=a not reachable since "))
        #expect(text.contains("internet not reachable (gateway-unreachable); cause: neighbour"))
        let failed = try run("page", "--output", "/nowhere/fleet.html")
        #expect(failed.status == 73 && failed.standardError.contains("/nowhere/fleet.html"))
    }

    @Test func `a page that is written again shows what is new, and says when no server answers`() throws {
        try addHost("first", site: "a")
        let file = server.directory.path + "/fleet.html"
        let program = try start("page", "--output", file, "--interval", "1s")
        try waitFor(file, "\"first\"")
        try addHost("second", site: "a", away: 5)
        try waitFor(file, "\"second\"")
        try waitFor(file, "internet not reachable (gateway-unreachable); cause: neighbour")
        server.kill()
        try waitFor(file, "\"ok\":false")
        #expect(SmallFile.text(file, limit: 1 << 20)?.contains("\"second\"") == true)
        program.send(SIGTERM)
        _ = try program.finish()
    }

    /// 8 MiB and more of events that are newer than those of the other hosts.
    private func addFlood() throws {
        let padding = String(repeating: "x", count: 50_000)
        var tail: UInt64 = 0
        for number in stride(from: 1 as UInt64, to: 200, by: 2) {
            let now = SystemClock.now
            let lines = (number...number + 1).map { n in
                Array(
                    """
                    {"v":1,"type":"wake","time":"\(now.wall)","boottime_ns":\(now.boot.nanoseconds),"log":"l","n":\(n),\
                    "slept_ms":\(n)000,"x":"\(padding)"}
                    """.utf8)
            }
            let chunk = EventChunk(
                log: "l", first: number, last: number + 1, boot: "b", eventBoot: "b", sent: now, lines: lines)
            tail = try jetStream.append(
                FleetNames.eventSubject(of: "flood"), headers: chunk.headers(expecting: tail), chunk.payload
            ).sequence
        }
    }

    @Test func `the page reads the newest events of a large stream and says so, or all since a time that is named`()
        throws
    {
        try addSites()
        try addHost("flood", site: "c")
        try addFlood()
        let file = server.directory.path + "/fleet.html"
        let old = "internet not reachable (gateway-unreachable); cause: neighbour"
        #expect(try run("page", "--output", file).status == 0)
        let text = try #require(SmallFile.text(file, limit: 16 << 20))
        #expect(text.contains("\"cut\":true") && text.contains("woke up after") && !text.contains(old))
        // What the buckets say is there, whatever the events.
        #expect(text.contains("the Internet is not reachable (gateway-unreachable)"))
        #expect(try run("page", "--output", file, "--since", "1h").status == 0)
        let whole = try #require(SmallFile.text(file, limit: 16 << 20))
        #expect(whole.contains("\"cut\":false") && whole.contains(old))
        #expect(whole.contains("7 of 8 hosts with site=a not reachable since "))
    }

    @Test func `a page that is written again follows the buckets and does not read them again`() throws {
        let server = try NATSServerProcess(
            """
            jetstream { store_dir: "$STORE" }
            accounts {
              SYS { users: [ { user: sys, password: sys } ] }
              REACH { jetstream: enabled, users: [ { user: anyone, password: anyone } ] }
            }
            system_account: SYS
            no_auth_user: anyone
            """)
        let fleet = PageCommandTests(server, JetStream(try server.connect()))
        #expect(try fleet.run("setup").status == 0)
        for index in 0..<300 { try fleet.addHost("a\(index)", site: "a") }
        let file = server.directory.path + "/fleet.html"
        let program = try fleet.start("page", "--output", file, "--interval", "1s")
        try waitFor(file, "\"a299\"")
        let before = try messagesSent(server)
        for number in 1...3 {
            try fleet.addHost("b\(number)", site: "a")
            try waitFor(file, "\"b\(number)\"")
        }
        // Of each of the three readings some answers, and the messages that are new.
        let sent = try messagesSent(server) - before
        #expect(sent < 300, "\(sent)")
        // Leases are in memory and are gone; the bucket counts from 1.
        try server.restart()
        try PageCommandTests(server, JetStream(try server.connect())).addHost("b4", site: "a")
        try waitFor(file, "\"b4\"")
        program.send(SIGTERM)
        _ = try program.finish()
    }

    /// The messages that a server has sent to all its clients.
    private func messagesSent(_ server: NATSServerProcess) throws -> Int64 {
        let text = try ChildProcess.run([
            ProjectFile.path("Tests/Field/fleet/request"), "nats://sys:sys@127.0.0.1:\(server.port)",
            "$SYS.REQ.SERVER.PING.VARZ",
            "{}",
        ])
        return try #require(try JSONReader.read(Array(text.utf8), .asFoundation)["data"]?["out_msgs"]?.integer)
    }

    @Test func `without a server nothing is written`() throws {
        server.kill()
        let file = server.directory.path + "/fleet.html"
        let result = try run("page", "--output", file)
        #expect(result.status == 69 && access(file, F_OK) != 0)
    }

    @Test func `export writes figures that Prometheus accepts`() throws {
        try addSites()
        let file = server.directory.path + "/fleet.prom"
        #expect(try run("export", file).status == 0)
        let text = try #require(SmallFile.text(file, limit: 1 << 20))
        for line in [
            "reach_fleet_hosts{word=\"here\"} 10", "reach_fleet_hosts{word=\"limited\"} 7",
            "reach_fleet_outages_open 1",
            "reach_fleet_label_hosts{label=\"site\",value=\"a\",word=\"limited\"} 7", "reach_fleet_engine_up 1",
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
        guard TestProgram.path("promtool") != nil else { return print("promtool is not installed: not checked") }
        try ChildProcess.run(["sh", "-c", "promtool check metrics < \(file)"])
    }

    @Test(.enabled(if: TestProgram.path("promtool") != nil, "promtool is not installed (apt-get install prometheus)"))
    func `Prometheus accepts the alert rules, and they and the dashboard use only exported metrics`() throws {
        try ChildProcess.run(["promtool", "check", "rules", ProjectFile.path("contrib/fleet/alerts.yml")])
        try ChildProcess.run(["promtool", "test", "rules", ProjectFile.path("contrib/fleet/alerts.test.yml")])
        let file = server.directory.path + "/fleet.prom"
        try run("export", file)
        let metrics = try #require(SmallFile.text(file, limit: 1 << 20))
        for name in ["contrib/fleet/alerts.yml", "contrib/fleet/grafana.json"] {
            for word in ProjectFile.text(name).split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") })
            where word.hasPrefix("reach_fleet_") {
                #expect(metrics.contains("# TYPE \(word) "), "\(name): \(word)")
            }
        }
        #expect((try? JSONReader.read(Array(ProjectFile.text("contrib/fleet/grafana.json").utf8))) != nil)
    }

    private func waitFor(_ file: String, _ text: String) throws {
        let deadline = SystemClock.boot + .seconds(30)
        while SmallFile.text(file, limit: 1 << 20)?.contains(text) != true {
            guard SystemClock.boot < deadline else {
                throw NATSServerProcess.Failure(description: "\(file) lacks \(text)")
            }
            usleep(50_000)
        }
    }
}
