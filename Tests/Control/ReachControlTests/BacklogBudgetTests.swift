import CConfine
import Foundation
import ReachCore
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct BacklogBudgetTests {
    private func target(_ number: Int) throws -> Target { try Target("2001:db8::\(String(number, radix: 16))") }

    /// A change that many targets make at once.
    private func change(_ number: Int) throws -> ReachabilityChange {
        let target = try target(1)
        let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: Int64(number)))
        return ReachabilityChange(
            at: moment, cause: .routeAdded, aspects: [.status],
            previous: ReachabilityState(target: target, since: moment.wall), state: .reachable(target))
    }

    @Test func `bytes that events of several backlogs share count once`() throws {
        let budget = BacklogBudget(limit: .max)
        let event = EncodedEvent.change(try change(1), source: .daemon)
        var backlogs = (0..<100).map { _ in Backlog(limit: .max, of: budget) }
        for index in backlogs.indices { backlogs[index].append(event.of(QuotedTarget(.reachable(try target(index))))) }
        let all = budget.byteCount
        #expect(all > event.template.bytes.count && all < event.template.bytes.count + 100 * 128)
        for index in backlogs.indices.dropFirst() { backlogs[index].forget(before: 1) }
        #expect(budget.byteCount > event.template.bytes.count, "one backlog has the bytes still")
        backlogs[0].forget(before: 1)
        #expect(budget.byteCount == 0)
    }

    /// Clients that read nothing, so that the backlogs of their targets grow.
    private func subscribe(_ server: TestServer, to targets: Range<Int>) throws -> [RawClient] {
        try targets.map { number in
            let client = try RawClient(server.path)
            let name = try target(number).description
            client.send(#"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"\#(name)"}}"#)
            return client
        }
    }

    @Test func `all backlogs together keep to their limit, and a short one loses nothing to the long ones`() throws {
        var limits = ControlLimits()
        limits.backlogBytesOfAll = limits.backlogBytes
        let server = try TestServer(limits: limits)
        let silent = try subscribe(server, to: 1..<41)
        let client = try #require(try subscribe(server, to: 41..<42).first)
        #expect(server.wait { $0.subscribers == 41 })
        #expect(try client.nextEvent()["type"] == .string("snapshot"))
        let limit = limits.backlogBytesOfAll
        let most = try server.run { service, control -> Result<Int, any Error> in
            Result {
                let last = try target(41)
                service.change(last)
                var most = 0
                for _ in 0..<400 {
                    for number in 1..<41 { service.change(try target(number)) }
                    most = max(most, control.statistics.backlogBytes)
                }
                service.change(last)
                return most
            }
        }.get()
        #expect(most > limit / 2 && most <= limit + 8192, "400 events of 40 targets have more than 16 MB")
        for _ in 0..<2 { #expect(try client.nextEvent()["type"] == .string("change")) }
        silent.forEach { $0.hangUp() }
        client.hangUp()
        #expect(server.wait { $0.subscribers == 0 && $0.backlogBytes == 0 }, "without a subscriber nothing is kept")
    }

    /// Runs `body` while this thread connects to sockets as another user.
    private func asStranger<Result>(_ body: () throws -> Result) throws -> Result {
        func become(_ user: UInt32) throws {
            let result = reach_confine_become(user)
            guard result == 0 else { throw SystemError(call: "setresuid", number: result) }
        }
        try become(64007)
        let result = Swift.Result { try body() }
        try become(0)
        return try result.get()
    }

    private func event(_ number: Int) -> QueueNotice {
        var event = QueueEvent(.retrying, at: .second(Int64(number)), epoch: 3)
        event.request = RequestID(rawValue: Int64(number))
        event.destination = Destination(stored: "https://host.example:443")
        return .event(event)
    }

    @Test(.enabled(if: getuid() == 0, "only root can connect as two users"))
    func `a user that reads nothing takes no event from one that reads`() throws {
        var limits = ControlLimits()
        limits.backlogBytesOfAll = limits.backlogBytes
        let server = try TestServer(limits: limits, hasQueue: true)
        chmod(server.directory, 0o755)
        chmod(server.path, 0o666)
        let silent = try asStranger {
            let watches = try (1..<21).map { id in
                let client = try RawClient(server.path)
                client.send(#"{"method":"io.reach.Queue.Watch","more":true,"parameters":{"id":\#(id)}}"#)
                return client
            }
            return try subscribe(server, to: 1..<201) + watches
        }
        // One target of its own, one that the other user has too, and the queue.
        let readers = try subscribe(server, to: 200..<202) + [RawClient(server.path)]
        readers[2].send(#"{"method":"io.reach.Queue.Watch","more":true}"#)
        #expect(server.wait { $0.subscribers == 223 })
        for reader in readers { _ = try reader.nextEvent() }
        let most = try server.run { service, control -> Swift.Result<Int, any Error> in
            Swift.Result {
                var most = 0
                for number in 0..<20 {
                    for target in 200..<202 { service.change(try self.target(target)) }
                    server.queueOnLoop { $0.publish(event(number)) }
                }
                for _ in 0..<20 {
                    for number in 1..<200 { service.change(try self.target(number)) }
                    server.queueOnLoop { queue in
                        for id in 1..<21 { queue.publish(event(id), toWatchersOf: Int64(id)) }
                    }
                    most = max(most, control.statistics.backlogBytes)
                }
                return most
            }
        }.get()
        #expect(most > limits.backlogBytesOfAll / 2 && most <= limits.backlogBytesOfAll + 8192)
        for (reader, type) in zip(readers, ["change", "change", "queue"]) {
            let types = try (0..<20).map { _ in try reader.nextEvent()["type"] }
            #expect(types == Array(repeating: .string(type), count: 20))
        }
        #expect(try silent[0].nextEvent()["type"] == .string("snapshot"))
        silent.forEach { $0.hangUp() }
        readers.forEach { $0.hangUp() }
        #expect(server.wait { $0.subscribers == 0 && $0.backlogBytes == 0 })
    }

    @Test func `an event of the queue is encoded once for all targets of its user`() throws {
        let server = try TestServer(hasQueue: true)
        let clients = try (1..<101).map { number in
            let client = try RawClient(server.path)
            let name = try target(number).description
            client.send(
                #"{"method":"io.reach.Monitor.Watch","more":true,"parameters":{"target":"\#(name)","queue":true}}"#)
            return client
        }
        #expect(server.wait { $0.subscribers == 100 })
        for client in clients { _ = try client.nextEvent() }
        let bytes = server.run { _, control in
            server.queueOnLoop { queue in for number in 0..<2 { queue.publish(event(number)) } }
            return control.statistics.backlogBytes
        }
        let size = event(1).encoded.count
        #expect(bytes > 2 * size && bytes < 2 * (size + 64 + 100 * 64) + 64)
        for client in clients { for _ in 0..<2 { #expect(try client.nextEvent()["type"] == .string("queue")) } }
    }
}
