import ReachCore
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
        for index in backlogs.indices { backlogs[index].append(event.of(try target(index))) }
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
}
