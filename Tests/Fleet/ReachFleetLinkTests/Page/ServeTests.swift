import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import ReachLoop
import ReachTesting
import Synchronization
import Testing

/// `reach-fleet serve` beside a real server of the fleet, asked by curl.
@Suite(
    .enabled(
        if: TestProgram.path("nats-server") != nil && TestProgram.path("curl") != nil,
        "nats-server or curl is not installed (apt-get install nats-server curl)"))
struct ServeTests {
    private let nats: NATSServerProcess
    private let jetStream: JetStream
    private let port: UInt16

    init() throws {
        nats = try NATSServerProcess()
        jetStream = JetStream(try nats.connect())
        port = try TestProgram.freePort()
        let setup = try BuiltProgram(named: "reach-fleet").run(
            ["setup", "--server", "nats://127.0.0.1:\(nats.port)"], limit: .seconds(60))
        #expect(setup.status == 0)
        try put("till-1")
    }

    private func put(_ host: String) throws {
        let now = SystemClock.now
        var state = HostState(host: host, version: "1", written: now, boot: "b", lease: .seconds(120))
        state.status = HostStatus(.reachable, reason: nil, linkClass: .wifi, since: now.wall)
        try jetStream.put(host, in: FleetNames.state, state.bytes)
        try jetStream.put(
            host, in: FleetNames.lease, HostLease(boot: "b", n: 1, since: now.wall, behind: 0).bytes)
    }

    private func serve(_ options: [String] = []) throws -> RunningProgram {
        let program = try BuiltProgram(named: "reach-fleet").start(
            ["serve", "--server", "nats://127.0.0.1:\(nats.port)", "--listen", "127.0.0.1:\(port)", "--interval", "1s"]
                + options)
        try waitUntil("it serves") {
            try ask("/status", options: ["-H", "Authorization: Bearer \(Self.token)"]).hasSuffix("200")
        }
        return program
    }

    private static let token = "0123456789abcdef"

    /// The body, and the status after it.
    private func ask(_ path: String, options: [String] = []) throws -> String {
        try ChildProcess.run(
            ["sh", "-c", "curl --silent --max-time 20 --write-out '%{http_code}' \"$@\" || :", "sh"] + options
                + ["http://127.0.0.1:\(port)\(path)"])
    }

    @Test func `the page, figures and JSON are those of the commands`() throws {
        let program = try serve(["--title", "Tills"])
        let page = try ask("/")
        #expect(
            page.contains("\"till-1\"") && page.contains("\"title\":\"Tills\"") && page.contains("connect-src 'self'"))
        #expect(try ask("/metrics").contains("reach_fleet_hosts{word=\"here\"} 1\n"))
        let lines = try ask("/status").split(separator: "\n")
        #expect(lines.count == 2 && lines[1] == "200")
        #expect(try fleetFaults(in: [String(lines[0])]) == [])
        #expect(try ask("/outages") == "200")
        let report = try ask("/report")
        #expect(try fleetFaults(in: [String(report.dropLast(3).trimmed)]) == [])
        #expect(try ask("/etc/passwd").hasSuffix("404"))
        #expect(try ask("/", options: ["--data", "x"]).hasSuffix("405"))
        #expect(try ask("/", options: ["--header", "Host: evil.example"]).hasSuffix("421"))
        #expect(try ask("/", options: ["--head"]).contains("Content-Length"))
        program.send(SIGTERM)
        _ = try program.finish()
    }

    @Test func `who listens to the events hears of a new host, also after the fleet's server was away`() throws {
        let program = try serve()
        let events = try BuiltProgram(named: "curl").start(
            ["--silent", "--no-buffer", "http://127.0.0.1:\(port)/events"])
        func live() throws -> Int64 {
            while true {
                let line = try events.nextLine(within: .seconds(30))
                guard let data = line.split(separator: " ").last, line.hasPrefix("data:") else { continue }
                return try #require(try JSONReader.read(Array(data.utf8))["live"]?.integer)
            }
        }
        let first = try live()
        try put("till-2")
        try waitUntil("there are news", within: .seconds(60)) { try live() > first }
        #expect(try ask("/").contains("\"till-2\""))
        nats.kill()
        try waitUntil("the page says that no server answers", within: .seconds(60)) {
            try ask("/").contains("\"ok\":false")
        }
        #expect(try ask("/").contains("\"till-2\""))
        events.send(SIGTERM)
        _ = try events.finish()
        program.send(SIGTERM)
        _ = try program.finish()
    }

    @Test func `with a token nobody else reads anything, and beyond this machine it needs one`() throws {
        let file = try nats.directory.file("token", Self.token + "\n")
        let program = try serve(["--token-file", file])
        for path in ServedText.allCases.map(\.rawValue) + ["/nosuch"] {
            #expect(try ask(path).hasSuffix("401"))
            #expect(try ask(path, options: ["--user", "x:0123456789abcdeX"]).hasSuffix("401"))
        }
        #expect(try ask("/", options: ["--user", "anyone:\(Self.token)"]).hasSuffix("200"))
        program.send(SIGTERM)
        _ = try program.finish()
        func refused(_ options: String...) throws -> Int32 {
            try BuiltProgram(named: "reach-fleet").run(
                ["serve", "--server", "nats://127.0.0.1:\(nats.port)"] + options
            ).status
        }
        #expect(try refused("--listen", "192.0.2.1:80") == 2)
        #expect(try refused("--listen", "nonsense") == 2)
        #expect(try refused("--token-file", "/nowhere") == 66)
        #expect(try refused("--token-file", nats.directory.file("short", "short\n")) == 78)
        #expect(try refused("--token-file", file, "--listen", "192.0.2.1:80") == 69)
    }

    @Test func `a crowd that sends nothing keeps nobody out`() throws {
        let program = try serve()
        let crowd = try ChildProcess.run([
            "python3", "-c",
            """
            import socket, time, urllib.request
            crowd = [socket.create_connection(("127.0.0.1", \(port))) for _ in range(200)]
            for one in crowd[:100]: one.sendall(b"GET / HTTP/1.1\\r\\nX: " + b"a" * 60000)
            print(urllib.request.urlopen("http://127.0.0.1:\(port)/status", timeout=60).status)
            for one in crowd: one.close()
            print(urllib.request.urlopen("http://127.0.0.1:\(port)/status", timeout=60).status)
            """,
        ])
        #expect(crowd == "200\n200\n")
        program.send(SIGTERM)
        _ = try program.finish()
    }

    @Test(.enabled(if: TestProgram.path("chromium") != nil, "Chromium is not installed (apt-get install chromium)"))
    func `the page in a browser loads itself again when there is news`() throws {
        let program = try serve()
        let browser = try BuiltProgram(named: "python3").start([
            ProjectFile.path("Tests/Field/fleet/look"), "--wait",
            "performance.getEntriesByType('navigation')[0].type == 'reload'", "--expect",
            "document.getElementById('pause').title.includes('when there is news')", "http://127.0.0.1:\(port)/",
        ])
        var (number, result) = (1, BuiltProgram.Result?.none)
        try waitUntil("the browser has loaded the page again", within: .seconds(90)) {
            number += 1
            try put("till-\(number)")
            result = try? browser.finish(within: .seconds(2))
            return result != nil
        }
        #expect(result?.status == 0, "\(result?.standardError ?? "")")
        program.send(SIGTERM)
        _ = try program.finish()
    }
}
