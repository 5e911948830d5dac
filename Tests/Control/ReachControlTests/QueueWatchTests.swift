import Foundation
import ReachCore
import ReachLoop
import ReachQueue
import Testing

@testable import ReachControl

/// Watching the queue over the socket.
@Suite struct QueueWatchTests {
    private func watch(_ server: TestServer, _ id: Int64? = nil) throws -> RawClient {
        let client = try RawClient(server.path)
        let parameters = id.map { #"{"id":\#($0)}"# } ?? "{}"
        client.send(#"{"method":"io.reach.Queue.Watch","more":true,"parameters":\#(parameters)}"#)
        return client
    }

    private var record: QueueEvent {
        var record = QueueEvent(.retrying, at: .second(5), epoch: 3)
        record.request = RequestID(rawValue: 7)
        record.owner = 1000
        record.attempt = 2
        record.reason = "connect"
        record.status = 503
        record.interface = "eth\u{7}0"
        record.blockers = .backoff
        record.notBefore = Instant.second(9).wall
        record.destination = Destination(stored: "https://host.example:443")
        record.condition = try? NetworkCondition("unmetered")
        record.count = 4
        return record
    }

    private let progress = AttemptProgress(
        id: RequestID(rawValue: 7), interface: "eth0", began: .second(5),
        bytes: ByteProgress(sent: 10, received: 1, toReceive: 30))

    @Test func `the first event says that nothing is missed from then on, and the rest is what happens`() throws {
        let server = try TestServer(hasQueue: true)
        let client = try watch(server, 7)
        let first = try client.nextEvent()
        #expect(first["type"] == .string("queue") && first["event"] == .string("watching"))
        #expect(first["seq"] == .integer(1))
        #expect(try QueueNotice(reading: first) == nil)
        let notices: [QueueNotice] = [
            .event(record), .progress(progress), .event(QueueEvent(.done, at: .second(8), epoch: 3)),
        ]
        server.queue { queue in for notice in notices { queue.publish(notice, toWatchersOf: 7) } }
        for (number, notice) in notices.enumerated() {
            let event = try client.nextEvent()
            #expect(event["seq"] == .integer(Int64(number + 2)))
            #expect(try QueueNotice(reading: event) == notice)
        }
    }

    @Test func `a user's watches of the same are one, which ends with the last of them`() throws {
        let server = try TestServer(hasQueue: true)
        let clients = try [7, 7, nil, nil, 8].map { try watch(server, $0) }
        for client in clients { _ = try client.nextEvent() }
        #expect(server.queue { $0.watchCount } == 3)
        #expect(server.statistics.targets == 0 && server.statistics.subscribers == 5)
        clients[0].hangUp()
        clients[2].hangUp()
        #expect(server.wait { $0.connections == 3 })
        #expect(server.queue { $0.cancelCount } == 0)
        for client in clients { client.hangUp() }
        #expect(server.wait { $0.connections == 0 })
        #expect(server.queue { $0.cancelCount } == 3)
    }

    @Test func `so many watches of a user and no more, and what they cost is given back`() throws {
        var limits = ControlLimits()
        limits.queueWatchesPerUser = 2
        let server = try TestServer(limits: limits, hasQueue: true)
        let clients = try [1, 2].map { try watch(server, $0) }
        for client in clients { _ = try client.nextEvent() }
        let refused = try watch(server, 3).next()
        #expect(refused["error"] == .string("io.reach.Queue.TooManyWatches"))
        #expect(refused["parameters"]?["limit"] == .integer(2))
        _ = try watch(server, 2).nextEvent()
        clients[0].hangUp()
        #expect(server.wait { $0.subscribers == 1 })
        _ = try watch(server, 3).nextEvent()
    }

    @Test func `one whom the queue refuses is told why, and may ask on`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { $0.failure = .notFound(7) }
        let client = try watch(server, 7)
        let reply = try client.next()
        #expect(reply["error"] == .string("io.reach.Queue.NotFound"))
        #expect(try client.call(#"{"method":"io.reach.Monitor.Status"}"#)["parameters"] != nil)
        #expect(server.statistics.subscribers == 0)
    }

    @Test func `a slow reader is told how much it missed, and that it may ask for what is now`() throws {
        let server = try TestServer(hasQueue: true)
        let client = try watch(server)
        _ = try client.nextEvent()
        server.queue { queue in
            for _ in 0..<20_000 { queue.publish(.event(QueueEvent(.queued, at: .second(1), epoch: 1))) }
        }
        var (number, missed): (Int64, Int64?) = (1, nil)
        while missed == nil {
            let event = try client.nextEvent()
            number += 1
            #expect(event["seq"] == .integer(number))
            if event["type"] == .string("dropped") { missed = event["count"]?.integer }
        }
        #expect(try client.nextEvent()["event"] == .string("watching"))
        #expect(Int64(20_000) == (missed ?? 0) + number - 2)
        server.queue { $0.publish(.event(record)) }
        #expect(try QueueNotice(reading: client.nextEvent()) == .event(record))
    }

    @Test func `with a target's changes come the requests' events, to those who ask for them`() throws {
        let server = try TestServer(hasQueue: true)
        let clients = try [#"{"queue":true}"#, "{}"].map { parameters in
            let client = try RawClient(server.path)
            client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":\#(parameters)}"#)
            #expect(try client.nextEvent()["type"] == .string("snapshot"))
            return client
        }
        server.queue { $0.publish(.event(record)) }
        server.run { service, _ in service.publish(.resync(.second(6), reason: "overrun")) }
        let event = try clients[0].nextEvent()
        #expect(event["type"] == .string("queue") && event["seq"] == .integer(2))
        #expect(try QueueNotice(reading: event) == .event(record))
        for client in clients { #expect(try client.nextEvent()["type"] == .string("resync")) }
        for client in clients { client.hangUp() }
        #expect(server.wait { $0.subscribers == 0 })
        #expect(server.queue { $0.watchCount } == 1 && server.queue { $0.cancelCount } == 1)
    }

    @Test func `where there is no queue, nothing happens in it`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"queue":1}}"#)
        #expect(try client.next()["error"] == .string("org.varlink.service.InvalidParameter"))
        client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"queue":true}}"#)
        #expect(try client.nextEvent()["type"] == .string("snapshot"))
    }

    @Test func `the client's watch has the same events, and ends with the daemon`() throws {
        let server = try TestServer(hasQueue: true)
        let loop = try EventLoop()
        var events: [QueueNotice?] = []
        var ending: ControlError?
        let subscription = try ControlSubscription(path: server.path, request: 7, on: loop) { event in
            switch event {
            case .ended(let error):
                ending = error
                loop.stop()
            case .event(let event):
                guard case .other(_, "queue", let json) = event else { return }
                events.append(try? QueueNotice(reading: json))
                if events.count == 1 { server.queue { $0.publish(.progress(self.progress), toWatchersOf: 7) } }
                if events.count == 2 { server.stop() }
            }
        }
        _ = loop.schedule(at: SystemClock.boot + .seconds(20)) { loop.stop() }
        loop.run()
        subscription.cancel()
        #expect(events == [nil, .progress(progress)])
        #expect(ending == .closed(path: server.path))
    }
}
