internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Testing

/// Requests that are sent as one, by a daemon that is killed.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct QueueJoinTests {
    private let namespace: TestNamespace
    private let directory: TemporaryDirectory
    private let server: ScriptedServer

    init() throws {
        namespace = try TestNamespace()
        let peer = try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        directory = try TemporaryDirectory()
        server = try ScriptedServer(in: peer, at: IPAddress(ipv4: 0xc000_0201), port: 80) { connection in
            let request = connection.readRequest()
            usleep(60_000)
            let status = request.contains("refuse") ? "400 Bad Request" : "200 OK"
            connection.write("HTTP/1.1 \(status)\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        try ChildProcess.run([
            "sh", "-c", "printf '[queue]\\njoin_wait = \"700ms\"\\njoin_requests = 8\\n' >\"$1/reach.toml\"", "sh",
            directory.path,
        ])
    }

    private var stage: QueueDaemonStage { QueueDaemonStage(namespace: namespace, directory: directory) }

    private func reach(_ arguments: String...) throws -> (status: CInt, output: String) { try stage.queue(arguments) }

    private func add(_ body: String) throws -> String {
        try reach("add", "--join", "json", "--key", "readings", "-d", body, "http://192.0.2.1/readings").output
    }

    /// The bodies that the server got, by the key that they came with.
    private func deliveries() throws -> [String: [String]] {
        try server.requests.values.reduce(into: [:]) { found, request in
            let key = request.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }
            let body = try #require(request.cut(at: "[")?.after)
            found[String(try #require(key).dropFirst(17)), default: []].append("[" + body)
        }
    }

    @Test func `however often the daemon is killed, each reading arrives in one body, which is the same each time`()
        throws
    {
        defer { namespace.remove() }
        var random = SeededGenerator(seed: 11)
        var readings: [Int] = []
        for _ in 0..<5 {
            let running = try stage.daemon()
            for _ in 0..<12 {
                let number = readings.count
                guard try add("{\"n\":\(number)}") != "" else { continue }
                readings.append(number)
            }
            usleep(useconds_t.random(in: 50_000...900_000, using: &random))
            running.send(SIGKILL)
            _ = try running.finish()
        }
        let running = try stage.daemon()
        for _ in 0..<200 where try !reach("status").output.hasPrefix("no request") { usleep(100_000) }
        running.send(SIGTERM)
        _ = try running.finish(within: .seconds(5))
        let deliveries = try deliveries()
        for (key, bodies) in deliveries { #expect(Set(bodies).count == 1, "\(key) came with \(bodies)") }
        let arrived = try deliveries.values.flatMap { bodies in
            try JSONReader.read(Array(bodies[0].utf8)).array?.compactMap { $0["n"]?.integer } ?? []
        }
        #expect(arrived.map(Int.init).sorted() == readings, "each once")
        #expect(deliveries.count < readings.count, "\(deliveries.count) requests")
        // Two at a time go to one destination's four slots, and each kill repeats at most those.
        #expect(deliveries.values.reduce(0) { $0 + $1.count - 1 } <= 5 * 4)
    }

    @Test func `a receipt tells which request carried it, and what is refused together is sent apart again`() throws {
        defer { namespace.remove() }
        try namespace.run("ip", "link", "set", "up0", "down")
        let running = try stage.daemon()
        let ids = try ["1", "\"refuse\"", "[3]"].map { try add($0) }
        let refused = try reach(
            "add", "--join", "json", "--key", "readings", "-d", "{\"a\":}", "http://192.0.2.1/readings")
        #expect(refused.status == 2)
        usleep(800_000)
        try namespace.run("ip", "link", "set", "up0", "up")
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1")
        for id in ids { #expect(try reach("wait", id, "--timeout", "30").status == 1) }
        let shown = try ids.map { try JSONReader.read(Array(try reach("show", $0, "--json").output.utf8)) }
        #expect(shown.map { $0["carrier"]?.integer } == [nil, Int64(ids[0]), Int64(ids[0])])
        #expect(shown.allSatisfy { $0["status"]?.integer == 400 && $0["reason"]?.string == "refused" })
        #expect(try deliveries().values.flatMap { $0 } == ["[1,\"refuse\",[3]]"])
        _ = try reach("retry", "--all")
        let ends = try ids.map { try reach("wait", $0, "--timeout", "30").status }
        #expect(ends == [0, 1, 0], "the one at fault is found")
        running.send(SIGTERM)
        _ = try running.finish(within: .seconds(5))
    }
}
