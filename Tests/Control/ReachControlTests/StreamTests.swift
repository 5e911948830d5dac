import Foundation
import ReachControl
import ReachCore
import ReachLoop
import Testing

@Suite struct StreamTests {
    private func watch(_ server: TestServer, _ target: String = "internet") throws -> RawClient {
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"\#(target)"}}"#)
        return client
    }

    @Test func `a stream begins with the current state, and continues with each change`() throws {
        let server = try TestServer()
        let client = try watch(server)
        let reply = try client.next()
        #expect(reply["continues"] == .bool(true))
        let first = try #require(reply["parameters"]?["event"])
        #expect(first["type"] == .string("snapshot") && first["initial"] == .bool(true))
        #expect(first["seq"] == .integer(1))
        #expect(first["status"]?["source"] == .string("daemon"))
        for number in 2...50 {
            server.run { service, _ in service.change() }
            let event = try client.nextEvent()
            #expect(event["type"] == .string("change") && event["seq"] == .integer(Int64(number)))
            #expect(event["status"]?["epoch"] == .integer(Int64(number)))
        }
        let now = SystemClock.now
        server.run { service, _ in
            service.publish(.resync(now, reason: "overrun"))
            service.publish(.wake(now, slept: .seconds(3)))
        }
        #expect(try client.nextEvent()["reason"] == .string("overrun"))
        #expect(try client.nextEvent()["slept_ms"] == .integer(3000))
    }

    @Test func `subscribers get the same event, each with the number of its own stream`() throws {
        let server = try TestServer()
        let early = try watch(server)
        _ = try early.nextEvent()
        server.run { service, _ in service.change() }
        _ = try early.nextEvent()
        let late = try watch(server)
        #expect(try late.nextEvent()["seq"] == .integer(1))
        server.run { service, _ in service.change() }
        var (one, other) = (try early.nextEvent(), try late.nextEvent())
        #expect(one["seq"] == .integer(3) && other["seq"] == .integer(2))
        for event in [one, other] { #expect(event["v"] == .integer(1) && event["type"] == .string("change")) }
        if case .object(var members) = one, case .object(var others) = other {
            members["seq"] = nil
            others["seq"] = nil
            (one, other) = (.object(members), .object(others))
        }
        #expect(one == other)
    }

    @Test func `a state that is determined late is the first event`() throws {
        let server = try TestServer()
        let client = try watch(server, "slow.example")
        #expect(server.wait { $0.subscribers == 1 })
        #expect(throws: RawClient.Failure.self) { try client.next(within: .milliseconds(50)) }
        let target = try Target("slow.example")
        server.run { service, _ in service.change(target) }
        let event = try client.nextEvent()
        #expect(event["type"] == .string("snapshot") && event["initial"] == .bool(true))
        #expect(event["seq"] == .integer(1))
    }

    /// Checks that a subscriber does not keep a stale state indefinitely: earlier subscribers get only the resync.
    @Test(arguments: [false, true])
    func `a change or else a snapshot replaces a state that is stale at first`(hasChange: Bool) throws {
        let server = try TestServer()
        let early = try watch(server)
        #expect(try early.nextEvent()["status"]?["stale"] == .bool(false))
        server.run { service, _ in service.setStale(true) }
        let late = try watch(server)
        #expect(try late.nextEvent()["status"]?["stale"] == .bool(true))
        server.run { service, _ in
            service.publish(.resync(SystemClock.now, reason: "lost"))
            service.setStale(false)
            if hasChange { service.change() }
        }
        #expect(try late.nextEvent()["type"] == .string("resync"))
        let good = try late.nextEvent()
        #expect(good["type"] == .string(hasChange ? "change" : "snapshot"))
        #expect(good["initial"] == .bool(false) && good["status"]?["stale"] == .bool(false))
        server.run { service, _ in service.change() }
        #expect(try late.nextEvent()["type"] == .string("change"))
        for type in ["resync"] + (hasChange ? ["change"] : []) + ["change"] {
            #expect(try early.nextEvent()["type"] == .string(type))
        }
    }

    @Test func `all subscribers share one watch of a target, which ends with the last of them`() throws {
        let server = try TestServer()
        var clients = try (0..<20).map { _ in try watch(server) }
        for client in clients { _ = try client.nextEvent() }
        let other = try watch(server, "192.0.2.9")
        _ = try other.nextEvent()
        #expect(server.run { service, _ in service.watchCount } == 2)
        #expect(server.statistics.targets == 2 && server.statistics.subscribers == 21)
        other.hangUp()
        clients.removeFirst(15)
        #expect(server.wait { $0.connections == 5 && $0.targets == 1 })
        #expect(server.run { service, _ in service.cancelCount } == 1)
        clients = []
        #expect(server.wait { $0.connections == 0 && $0.targets == 0 })
        #expect(server.run { service, _ in service.cancelCount } == 2)
    }

    @Test func `the number of watched targets is limited`() throws {
        var limits = ControlLimits()
        limits.targets = 2
        let server = try TestServer(limits: limits)
        let clients = try ["192.0.2.1", "192.0.2.2"].map { try watch(server, $0) }
        for client in clients { _ = try client.nextEvent() }
        let third = try watch(server, "192.0.2.3")
        #expect(try third.next()["error"] == .string("io.reach.Monitor.TooManyTargets"))
        third.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"192.0.2.1"}}"#)
        #expect(try third.nextEvent()["type"] == .string("snapshot"))
    }

    @Test func `a client that has shut down its sending side still gets events`() throws {
        let server = try TestServer()
        let client = try watch(server)
        client.finishSending()
        _ = try client.nextEvent()
        server.run { service, _ in service.change() }
        #expect(try client.nextEvent()["type"] == .string("change"))
    }

    @Test func `a subscriber that does not read gets the number of lost events, and does not slow others`() throws {
        let server = try TestServer()
        let (slow, good) = (try watch(server), try watch(server))
        _ = try good.nextEvent()
        let changes: Int64 = 3000
        for number in 1...changes {
            server.run { service, _ in service.change() }
            #expect(try good.nextEvent()["seq"] == .integer(number + 1))
        }
        var (sequence, changesSeen, dropped, snapshots): (Int64, Int64, Int64, Int) = (0, 0, 0, 0)
        var epoch: Int64 = 0
        while epoch < changes + 1 {
            let event = try slow.nextEvent()
            sequence += 1
            #expect(event["seq"] == .integer(sequence))
            switch event["type"]?.string {
            case "change":
                changesSeen += 1
                // No event is lost without a `dropped` event.
                #expect(event["status"]?["epoch"] == .integer(epoch + 1))
            case "dropped":
                dropped += try #require(event["count"]?.integer)
                let snapshot = try slow.nextEvent()
                sequence += 1
                #expect(snapshot["type"] == .string("snapshot") && snapshot["initial"] == .bool(false))
                epoch = try #require(snapshot["status"]?["epoch"]?.integer)
                #expect(epoch == 1 + changesSeen + dropped)
                continue
            case "snapshot": snapshots += 1
            default: Issue.record("unexpected event: \(event)")
            }
            epoch = try #require(event["status"]?["epoch"]?.integer)
        }
        #expect(snapshots == 1 && dropped > 0)
        #expect(changesSeen + dropped == changes)
        #expect(server.statistics.droppedEvents == UInt64(dropped))
        // From then on the subscriber gets every event again.
        server.run { service, _ in service.change() }
        #expect(try slow.nextEvent()["seq"] == .integer(sequence + 1))
        #expect(try good.nextEvent()["seq"] == .integer(changes + 2))
    }
}
