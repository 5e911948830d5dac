import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// Requests, and links that come and go.
@Suite(
    .enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"),
    .enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"), .timeLimit(.minutes(2)))
struct LinkTests {
    private static let url = "http://203.0.113.10/"

    @Test func `both links with a default route are paths, with their classes`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let web = try WebServer(
            "server { listen 203.0.113.10:80; return 200 ok; }", listensOn: [80], in: links.internet)
        for (condition, interface) in [
            ("any", "lan0"), ("wwan", "mob0"), ("wifi", "lan0"), ("interface=mob0", "mob0"),
        ] {
            let id = try await room.add(Self.url, when: condition)
            let started = try await room.wait(for: .started, of: id)
            #expect(started.event.interface == interface, "\(condition)")
            try await room.wait(for: .done, of: id)
        }
        withExtendedLifetime(web) {}
    }

    @Test func `a request for Wi-Fi sends nothing by the modem, and starts when Wi-Fi is back`() async throws {
        let links = try TwoLinks(up: ["mob0"])
        let begin = SystemClock.boot
        let room = try QueueRoom(in: links.machine)
        let web = try WebServer(
            "server { listen 203.0.113.10:80; return 200 ok; }", listensOn: [80], in: links.internet)
        let before = try links.packetsSent(by: "mob0")
        let id = try await room.add(Self.url, when: "unmetered, not wwan")
        try await room.wait(for: .waiting, of: id)
        let waiting = try #require(await room.explain(id))
        #expect(waiting.state == .waiting)
        #expect(Set(waiting.reasons.map(\.blocker)) == [.linkClass, .metered])

        let lateness = room.watchLateness()
        try links.bring(up: "lan0")
        let started = try await room.wait(for: .started, of: id)
        // The kernel itself may tell of a carrier a second late: what counts is when it did.
        let back = try await room.changes.wait { $0.state.interface == "lan0" }
        let settling = started.event.moment.boot - back.bootTime
        #expect(settling >= .milliseconds(190))
        // The machine that runs tests is busy with others: how late its timers are is not ours.
        // After an outage a fleet is spread over a tenth of its length, and at least over a quarter of a second.
        let spread = max(.milliseconds(250), (back.bootTime - begin) / 10)
        #expect(settling <= .milliseconds(250) + spread + lateness.total * 4, "\(settling)")
        #expect(started.event.interface == "lan0")
        try await room.wait(for: .done, of: id)
        #expect(try links.packetsSent(by: "mob0") == before)
        // Which is not because nothing could be.
        try await room.wait(for: .done, of: try await room.add(Self.url, when: "wwan"))
        #expect(try links.packetsSent(by: "mob0") > before)
        withExtendedLifetime(web) {}
    }

    @Test func `a link that is gone for a second costs no attempt`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine)
        let gate = EventLog<Bool>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            gate.append(true)
            usleepSeconds(3)
            connection.write("rest")
        }
        let id = try await room.add(Self.url)
        try await gate.wait(for: 1)
        try links.take(down: "lan0")
        usleepSeconds(1)
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id)
        #expect(server.requests.values.count == 1)
        let record = try #require(try await room.record(id))
        #expect(record.result?.body == .inline(Array("halfrest".utf8)))
        #expect(record.tries == 1)
    }

    @Test func `a link that is gone for five seconds interrupts, and counts as no one's failure`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine)
        let count = EventLog<Int>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            count.append(1)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            if count.values.count > 1 { connection.write("rest") } else { connection.waitForEnd() }
        }
        let id = try await room.add(Self.url)
        try await count.wait(for: 1)
        let before = ContinuousClock.now
        try links.take(down: "lan0")
        let interrupted = try await room.wait(for: .interrupted, of: id)
        #expect(interrupted.at - before >= .milliseconds(1900))
        try await room.wait(for: .waiting, of: id)
        #expect(await room.explain(id)?.reasons.map(\.blocker) == [.path])
        usleepSeconds(2)
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id)
        let record = try #require(try await room.record(id))
        #expect(record.attempts == 0)
        #expect(record.tries == 2)
        #expect(server.requests.values.count == 2)
        let expected: [QueueEvent.Kind] = [.queued, .started, .interrupted, .waiting, .resumed, .started, .done]
        #expect(room.kinds(of: id) == expected)
    }

    @Test func `a link that is removed in the middle leaves no descriptor behind`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine)
        let count = EventLog<Int>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            count.append(1)
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
            connection.waitForEnd()
        }
        let id = try await room.add(Self.url)
        try await count.wait(for: 1)
        try links.machine.run("ip", "link", "del", "lan0")
        try await room.wait(for: .interrupted, of: id)
        try await room.wait(for: .waiting, of: id)
        #expect(await room.ask { $0.queue.runningCount } == 0)
        // The server's end of the connection is still there; ours is closed.
        let sockets = try links.machine.run("ss", "-Htan", "state", "established")
        #expect(sockets.isEmpty, "\(sockets)")
        withExtendedLifetime(server) {}
    }

    @Test func `after a change of the way, no connection of before is used`() async throws {
        let links = try TwoLinks()
        let room = try QueueRoom(in: links.machine)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok")
            }
        }
        try await room.wait(for: .done, of: try await room.add(Self.url))
        try await room.wait(for: .done, of: try await room.add(Self.url))
        let before = try links.internet.run("ss", "-Htan", "state", "established", "sport", "=", ":80")
        #expect(before.split(separator: "\n").count == 1, "one connection serves both: \(before)")
        try links.take(down: "lan0")
        let id = try await room.add(Self.url)
        let started = try await room.wait(for: .started, of: id)
        #expect(started.event.interface == "mob0")
        try await room.wait(for: .done, of: id)
        let after = try links.internet.run("ss", "-Htan", "state", "established", "sport", "=", ":80")
        #expect(after.contains("198.51.100.2"), "\(after)")
        withExtendedLifetime(server) {}
    }
}
