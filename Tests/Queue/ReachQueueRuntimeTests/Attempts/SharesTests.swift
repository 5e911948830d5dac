import Glibc
import ReachCore
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Users who do not trust each other, and servers that keep what they get hold of.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct SharesTests {
    private static let url = "http://203.0.113.10/"
    private static let (alice, bob): (UInt32, UInt32) = (1000, 1001)

    /// Sends a byte of an endless answer every 100 ms until the client is gone.
    private static func dripping(in links: TwoLinks, port: UInt16) throws -> ScriptedServer {
        try ScriptedServer(in: links.internet, at: TwoLinks.server, port: port) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            while connection.write("x") { usleepSeconds(0.1) }
        }
    }

    private static func quick(in links: TwoLinks) throws -> ScriptedServer {
        try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
    }

    @Test func `servers that drip keep no slot of another user, and no attempt beyond its request's time`() async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let servers = try (1...8).map { try Self.dripping(in: links, port: UInt16(8000 + $0)) }
        let server = try Self.quick(in: links)
        let room = try QueueRoom(in: links.machine) { $0.policy.shares.grace = .seconds(1) }
        let drips = try await room.add(
            servers.map { server in
                var request = try QueuedRequest(
                    RequestSpecification(url: "http://203.0.113.10:\(server.port)/"), owner: Self.alice)
                request.specification.priority = .urgent
                request.specification.timeToLive = .seconds(15)
                return request
            })
        var request = try QueuedRequest(RequestSpecification(url: Self.url), owner: Self.bob)
        request.specification.priority = .urgent
        let id = try await room.add([request], when: { $0.queue.runningCount == 8 })[0]
        try await room.wait(for: .done, of: id)
        let before = room.events.values.prefix { $0.event.kind != .done }.map(\.event)
        // None has ended by then: one made room.
        #expect(!before.contains { $0.kind == .dead }, "\(before)")
        #expect(before.count { $0.kind == .interrupted && $0.reason == "share" } == 1, "\(before)")
        for id in drips {
            let dead = try await room.wait(for: .dead, of: id)
            #expect(dead.event.reason == "expired")
        }
        #expect(await room.ask { $0.queue.runningCount } == 0)
        withExtendedLifetime(server) {}
    }

    @Test func `connections into the void fall under their user's share`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        try links.machine.run("nft", "add table inet t")
        try links.machine.run("nft", "add chain inet t out { type filter hook output priority 0 ; }")
        try links.machine.run("nft", "add rule inet t out ip daddr 203.0.113.0/24 tcp dport 9000-9100 drop")
        let server = try Self.quick(in: links)
        let room = try QueueRoom(in: links.machine) {
            $0.policy.shares.grace = .seconds(1)
            $0.attempts.timeouts.connect = .seconds(60)
        }
        var last: RequestID?
        for number in 0..<16 {
            last = try await room.add("http://203.0.113.\(10 + number):\(9000 + number)/", by: Self.alice)
        }
        let id = try await room.add(Self.url, by: Self.bob)
        try await room.wait(for: .done, of: id, within: .seconds(15))
        #expect(await room.explain(try #require(last))?.attempts == 0)
        withExtendedLifetime(server) {}
    }

    @Test func `an answer slower than the least rate has failed`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let server = try Self.dripping(in: links, port: 80)
        let room = try QueueRoom(in: links.machine) {
            $0.attempts.timeouts.idle = .seconds(1)
            $0.attempts.timeouts.leastRate = 500
        }
        let id = try await room.add(Self.url)
        let retrying = try await room.wait(for: .retrying, of: id)
        #expect(retrying.event.reason == "destination")
        withExtendedLifetime(server) {}
    }

    @Test func `a burst to a host that is seen for the first time overlaps, again after it was idle`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let arrived = EventLog<Int>()
        let overlapped = EventLog<Bool>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            arrived.append(1)
            // No one is answered before four are here.
            for _ in 0..<1000 where arrived.values.count % 4 != 0 { usleepSeconds(0.01) }
            overlapped.append(arrived.values.count % 4 == 0)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        let room = try QueueRoom(in: links.machine)
        let request = try QueuedRequest(
            RequestSpecification(url: Self.url, condition: try NetworkCondition("reachable")))
        for round in 1...2 {
            let ids = try await room.add(Array(repeating: request, count: 4))
            for id in ids { try await room.wait(for: .done, of: id, within: .seconds(50)) }
            #expect(overlapped.values == Array(repeating: true, count: 4 * round))
        }
        withExtendedLifetime(server) {}
    }

    @Test func `what a portal must not read waits until the Internet is proved`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let server = try Self.quick(in: links)
        let room = try QueueRoom(in: links.machine)
        func prove(_ connectivity: Connectivity) {
            room.perform {
                $0.queue.update(
                    survey: ConnectivitySurvey(interfaces: ["lan0": ConnectivityReport(ipv4: connectivity)]))
            }
        }
        prove(.portal)
        let secret = try await room.add(Self.url) {
            $0.headers = [HeaderField("Authorization", "Basic c2VjcmV0")]
        }
        let onLink = try await room.add("http://192.0.2.1/", when: "reachable", body: .inline([1])) {
            $0.method = "PUT"
        }
        let waiting = try await room.wait(for: .waiting, of: secret)
        #expect(waiting.event.blockers == .notValidated)
        try await room.wait(for: .started, of: onLink)
        #expect(server.requests.values.allSatisfy { !$0.contains("Authorization") })
        prove(.full)
        try await room.wait(for: .done, of: secret)
    }
}
