import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Requests, and whose fault it is when they fail.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct NetworkTroubleTests {
    private static let url = "http://203.0.113.10/"

    /// One way in which a server fails.
    struct Fault: Sendable, CustomStringConvertible {
        let description: String
        let script: ScriptedServer.Script
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"

    private static let faults = [
        Fault(description: "RST") {
            $0.readRequest()
            $0.reset()
        },
        Fault(description: "FIN before headers") { $0.readRequest() },
        Fault(description: "half headers") {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-")
        },
        Fault(description: "truncated body") {
            $0.readRequest()
            $0.write(head + "half")
        },
        Fault(description: "bad chunk") {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n")
            $0.waitForEnd()
        },
        Fault(description: "slowloris") {
            $0.readRequest()
            $0.write(head + "1")
            $0.waitForEnd()
        },
    ]

    @Test(arguments: faults)
    func `a fault of the server is the server's when the path works`(fault: Fault) async throws {
        let links = try TwoLinks(up: ["lan0"])
        let paths = PlayedPaths { true }
        let room = try QueueRoom(in: links.machine, paths: paths) { $0.attempts.timeouts.idle = .milliseconds(300) }
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80, fault.script)
        let id = try await room.add(Self.url)
        let retrying = try await room.wait(for: .retrying, of: id)
        #expect(retrying.event.reason == "destination")
        #expect(paths.asked.values.first == "lan0")
        let record = try #require(try await room.record(id))
        #expect(record.attempts >= 1 && record.networkFailures == 0)
        withExtendedLifetime(server) {}
    }

    @Test func `what a portal answers kills nothing, and all is sent when somebody has paid`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let paid = EventLog<Bool>()
        let paths = PlayedPaths { !paid.values.isEmpty }
        let room = try QueueRoom(in: links.machine, paths: paths)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            let answer = paid.values.isEmpty ? "302 Login\r\nLocation: http://login.example/" : "200 OK"
            connection.write("HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let id = try await room.add(Self.url, method: "POST", body: .inline([0x61]))
        let retrying = try await room.wait(for: .retrying, of: id)
        #expect(retrying.event.reason == "network")
        #expect(paths.asked.values.first == "lan0")
        paid.append(true)
        try await room.wait(for: .done, of: id)
        #expect(try await room.record(id)?.attempts == 0)
        withExtendedLifetime(server) {}
    }

    @Test func `with name servers that drop everything, attempts end in time, cost nothing and delay no one`()
        async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        try links.internet.run("nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }")
        try links.internet.run("nft", "add rule inet t in udp dport 53 drop")
        let paths = PlayedPaths { false }
        let server = try #require(IPAddress("203.0.113.10"))
        let room = try QueueRoom(in: links.machine, paths: paths) {
            $0.transfers.resolver.configuration = ResolverConfiguration(servers: [.init(server)])
            $0.attempts.timeouts.connect = .seconds(1)
        }
        let lateness = room.watchLateness()
        var ids: [RequestID] = []
        for number in 0..<8 { ids.append(try await room.add("http://host\(number).example/")) }
        for id in ids {
            let started = try await room.wait(for: .started, of: id)
            let retrying = try await room.wait(for: .retrying, of: id)
            #expect(retrying.event.reason == "network")
            #expect(retrying.at - started.at < .milliseconds(1050) + lateness.total * 4, "\(retrying.at - started.at)")
            let record = try #require(try await room.record(id))
            #expect(record.attempts == 0 && record.networkFailures >= 1)
        }
        #expect(paths.asked.values.count <= 2, "one check serves all of a round")
        // What would block the loop would block it for the second of a timeout.
        #expect(lateness.inLoop < .milliseconds(200), "\(lateness.inLoop)")
        // The kernel's news are not held up, either.
        let before = ContinuousClock.now
        try links.take(down: "lan0")
        try await room.changes.wait { $0.state.status == .notReachable }
        #expect(ContinuousClock.now - before < .seconds(1) + lateness.total * 4)
    }
}
