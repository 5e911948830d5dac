import Glibc
import ReachCore
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Requests, and servers that do not answer as they should.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct ServerTests {
    private static let url = "http://203.0.113.10/"

    @Test func `Retry-After is waited for, and costs one attempt`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let tries = EventLog<ContinuousClock.Instant>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            tries.append(.now)
            connection.write(
                tries.values.count == 1
                    ? "HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        let id = try await room.add(Self.url)
        let retrying = try await room.wait(for: .retrying, of: id)
        #expect(retrying.event.status == 503)
        #expect(retrying.event.reason == "destination")
        try await room.wait(for: .done, of: id)
        let times = tries.values
        try #require(times.count == 2)
        let gap = times[1] - times[0]
        #expect(gap >= .seconds(2), "\(gap)")
        #expect(try await room.record(id)?.attempts == 1)
        withExtendedLifetime(server) {}
    }

    @Test func `a key that tells repetitions apart is the same in each attempt, and GET needs none`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let tries = EventLog<Bool>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            tries.append(true)
            connection.write(
                tries.values.count > 1
                    ? "HTTP/1.1 201 Made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    : "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let id = try await room.add(Self.url, method: "POST", body: .inline(Array("hello".utf8)))
        try await room.wait(for: .done, of: id)
        let sent = server.requests.values
        try #require(sent.count == 2)
        let keys = sent.compactMap { text in
            text.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }
        }
        #expect(keys.count == 2 && keys[0] == keys[1], "\(keys)")
        #expect(keys.first?.count == "Idempotency-Key: ".count + 36)
        #expect(sent.allSatisfy { $0.hasSuffix("hello") })
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}F", "HTTP/3.7 200 OK\r\n\r\n",
        "<html><body>Please log in</body></html>\n",
    ])
    func `an answer that is no HTTP is a failure, and a POST is sent again with its key`(text: String) async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let tries = EventLog<Bool>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            tries.append(true)
            connection.write(
                tries.values.count > 1
                    ? "HTTP/1.1 201 Made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" : text)
        }
        let id = try await room.add(Self.url, method: "POST", body: .inline(Array("hello".utf8)))
        try await room.wait(for: .done, of: id)
        let keys = server.requests.values.map { request in
            request.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }
        }
        #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1], "\(keys)")
        // The first has failed and counts; the one that brought the answer does not.
        #expect(try await room.record(id)?.attempts == 1)
    }

    @Test func `a request that was stored before its headers were checked is not sent`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { $0.readRequest() }
        var request = try QueuedRequest(
            RequestSpecification(method: "PUT", url: Self.url, body: .inline(Array("abc".utf8))))
        request.specification.headers = [HeaderField("Content-Length", "1")]
        room.perform { [request] room in room.queue.driver.ask({ .add(request, $0) }) { _ in } }
        let dead = try await room.wait(for: .dead)
        #expect(dead.event.reason == "invalid")
        #expect(server.requests.values.isEmpty)
    }

    @Test func `a network that swallows everything is a timeout, and delays no one`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine) {
            $0.attempts.timeouts.connect = .seconds(1)
        }
        try links.machine.run("nft", "add table inet t")
        try links.machine.run("nft", "add chain inet t out { type filter hook output priority 0 ; }")
        try links.machine.run("nft", "add rule inet t out ip daddr 203.0.113.10 drop")
        let lateness = room.watchLateness()
        let id = try await room.add(Self.url)
        let started = try await room.wait(for: .started, of: id)
        let retrying = try await room.wait(for: .retrying, of: id)
        let took = retrying.at - started.at
        #expect(took >= .milliseconds(950) && took <= .milliseconds(1500) + lateness.total * 4, "\(took)")
        // What would block the loop would block it for the second of the timeout.
        #expect(lateness.inLoop < .milliseconds(200), "\(lateness.inLoop)")
    }

    @Test func `a host that refuses counts against it, and its breaker opens`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine) {
            $0.policy.retries.floor = .milliseconds(10)
            $0.policy.retries.base = .milliseconds(20)
        }
        let id = try await room.add("http://203.0.113.10:9/")
        let opened = try await room.wait(for: .breakerOpen)
        #expect(opened.event.destination?.description == "http://203.0.113.10:9")
        let explanation = try #require(await room.explain(id))
        // It may have been tried once more meanwhile.
        #expect(explanation.attempts >= 5)
    }

    @Test func `after a storm that overran the socket, the queue knows the network as it is`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine, receiveBufferBytes: 4096)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        try await room.wait(for: .done, of: try await room.add(Self.url))
        // Whatever is told while the loop sleeps does not fit.
        room.perform { _ in usleepSeconds(1.5) }
        let batch = (0..<200).map { "link add d\($0) type bridge\nlink set d\($0) up" }.joined(separator: "\n")
        let directory = try TemporaryDirectory()
        let file = try directory.file("batch", batch + "\nlink set lan0 down\n")
        try links.machine.run("ip", "-batch", file)
        try await room.resyncs.wait(for: 1)
        let id = try await room.add(Self.url)
        try await room.wait(for: .waiting, of: id)
        #expect(await room.explain(id)?.reasons.map(\.blocker) == [.path])
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id)
        withExtendedLifetime(server) {}
    }

    /// Scaled down: with 200 ms and 10,000 requests it takes eight minutes.
    @Test func `four at a time drain a slow host, and each order is kept`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let atOnce = EventLog<Int>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            while !connection.readRequest().isEmpty {
                atOnce.append(1)
                usleepSeconds(0.05)
                atOnce.append(-1)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let count = 120
        await room.holdQueue(true)
        for number in 0..<count {
            _ = try await room.add(Self.url + "\(number)") { $0.orderKey = "\(number % 6)" }
        }
        let began = ContinuousClock.now
        await room.holdQueue(false)
        try await room.events.wait(within: .seconds(30)) { $0.count { $0.event.kind == .done } == count }
        let took = ContinuousClock.now - began
        #expect(took >= .seconds(Double(count) * 0.05 / 4) * 0.9)
        let worst = atOnce.values.reduce(into: (now: 0, most: 0)) { state, step in
            state.now += step
            state.most = max(state.most, state.now)
        }.most
        #expect(worst == 4)
        let numbers = server.requests.values.compactMap { text in
            text.split(separator: " ").dropFirst().first.flatMap { Int($0.dropFirst()) }
        }
        for key in 0..<6 {
            let own = numbers.filter { $0 % 6 == key }
            #expect(own == own.sorted() && own.count == count / 6)
        }
    }

    @Test func `a portal's 511 is the network's fault, and kills nothing`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 511 Login\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let id = try await room.add(Self.url)
        let retrying = try await room.wait(for: .retrying, of: id)
        #expect(retrying.event.reason == "network")
        let record = try await room.record(id)
        #expect(record?.attempts == 0 && (record?.networkFailures ?? 0) >= 1)
        withExtendedLifetime(server) {}
    }
}
