import Foundation
import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@Suite struct ClientTests {
    @Test func `a client gets the state of the service`() throws {
        let server = try TestServer()
        let target = try Target("host.example")
        server.run { service, _ in for _ in 0..<7 { service.change(target) } }
        var client = try ControlClient(path: server.path)
        let state = try client.status(of: target)
        #expect(state.target == target && state.epoch == 7)
        #expect(try client.status(of: .internet) == .reachable(.internet))
        try client.reload()
        #expect(server.run { service, _ in service.reloads.count } == 1)
    }

    private static func probes(_ count: Int) -> [ProbeReport] {
        (0..<count).map {
            ProbeReport(
                name: "p\($0)", target: "http://192.0.2.1/\($0)", state: .up, since: ProbeSample.moment.wall,
                interval: .seconds(60))
        }
    }

    @Test(arguments: [0, 1, 256, 257, 10_000])
    func `a client gets all probes in order, however many there are`(_ count: Int) throws {
        let server = try TestServer()
        server.run { service, _ in service.probeReports = Self.probes(count) }
        var client = try ControlClient(path: server.path)
        #expect(try client.probes().map(\.name) == (0..<count).map { "p\($0)" })
    }

    @Test func `a page of probes ends before its message is too long, and names the next one`() throws {
        let server = try TestServer()
        let long = String(repeating: "a", count: 8_000)
        server.run { service, _ in
            service.probeReports = Self.probes(300).map { probe in
                ProbeReport(
                    name: probe.name, target: "http://192.0.2.1/" + long, state: .up, since: ProbeSample.moment.wall,
                    interval: .seconds(60)
                )
            }
        }
        let raw = try RawClient(server.path)
        let all = try raw.call(#"{"method":"io.reach.Monitor.Probes"}"#)
        #expect(all["error"]?.string == "io.reach.Monitor.NotAvailable")
        let page = try raw.call(#"{"method":"io.reach.Monitor.Probes","parameters":{"limit":300}}"#)
        let written = try #require(page["parameters"]?["probes"]?.array?.count)
        #expect((10..<100).contains(written))
        #expect(page["parameters"]?["next"]?.integer == Int64(written))
        var client = try ControlClient(path: server.path)
        #expect(try client.probes().map(\.name) == (0..<300).map { "p\($0)" })
        let few = try raw.call(#"{"method":"io.reach.Monitor.Probes","parameters":{"after":298,"limit":9}}"#)
        #expect(few["parameters"]?["probes"]?.array?.count == 2)
        #expect(few["parameters"]?["next"] == nil)
    }

    @Test func `a client learns whether the daemon watches its own network namespace`() throws {
        let server = try TestServer()
        var client = try ControlClient(path: server.path)
        #expect(try client.isInThisNamespace())
    }

    @Test func `a client gets errors with their type and their reason`() throws {
        let server = try TestServer()
        var client = try ControlClient(path: server.path)
        let blind = try Target("blind.example")
        do {
            _ = try client.status(of: blind)
            Issue.record("no error")
        } catch {
            #expect(error.monitorError == .cannotObserve(reason: "netlink is gone"))
            #expect(
                error.description == "the daemon refused: io.reach.Monitor.CannotObserve, reason: netlink is gone")
        }
        #expect(try client.status(of: .internet).isReachable)
    }

    private func connect(_ path: String) -> ControlError? {
        do throws(ControlError) {
            _ = try ControlClient(path: path, patience: .milliseconds(100))
            return nil
        } catch {
            return error
        }
    }

    @Test func `a missing daemon is an error at once`() throws {
        let server = try TestServer()
        server.run { _, server in server.stop() }
        #expect(connect(server.path) == .notRunning(path: server.path))
        #expect(TestServer.bindAndLeave(server.path))
        #expect(connect(server.path) == .notRunning(path: server.path))
        #expect(connect("") == .badPath(""))
        let file = server.directory + "/file"
        try Data().write(to: URL(filePath: file))
        #expect(connect(file) == .notRunning(path: file))
        #expect(
            connect(file + "/s") == .failed(path: file + "/s", SystemError(call: "connect", number: ENOTDIR)))
    }

    @Test func `a call times out if the daemon does not answer`() throws {
        let server = try TestServer()
        server.run { service, _ in service.answersLater = true }
        var client = try ControlClient(path: server.path, patience: .milliseconds(100))
        do {
            _ = try client.status(of: .internet)
            Issue.record("an answer")
        } catch {
            #expect(error == .timedOut(path: server.path))
        }
    }

    @Test func `calls and subscriptions notice a daemon that stops`() async throws {
        let server = try TestServer()
        let events = EventLog<ControlSubscription.Event>()
        let watcher = try SubscriptionThread(server.path, events)
        try await events.wait(for: 1)
        var client = try ControlClient(path: server.path)
        server.run { _, server in server.stop() }
        do {
            _ = try client.status(of: .internet)
            Issue.record("an answer")
        } catch {
            #expect(error == .closed(path: server.path))
        }
        let last = try await events.wait(for: 2).last
        guard case .ended(.closed(server.path)) = last else {
            Issue.record("\(String(describing: last))")
            return
        }
        watcher.stop()
    }

    @Test func `a subscription emits the state, then changes, and nothing after its end`() async throws {
        let server = try TestServer()
        let events = EventLog<ControlSubscription.Event>()
        let watcher = try SubscriptionThread(server.path, events)
        try await events.wait(for: 1)
        for number in 2...20 {
            server.run { service, _ in service.change() }
            try await events.wait(for: number)
        }
        for (number, event) in events.values.enumerated() {
            guard case .event(let event) = event else {
                Issue.record("\(event)")
                continue
            }
            switch event {
            case .snapshot(let change, _): #expect(number == 0 && change.state == .reachable(.internet))
            case .target(.change(let change)):
                #expect(change.sequenceNumber == UInt64(number) + 1)
                #expect(change.state.epoch == UInt64(number) + 1 && change.previous?.epoch == UInt64(number))
            default: Issue.record("\(event)")
            }
        }
        watcher.stop()
        #expect(server.wait { $0.connections == 0 })
        #expect(events.values.count == 20)
    }

    @Test func `a refused subscription ends with the reason`() async throws {
        let server = try TestServer()
        let events = EventLog<ControlSubscription.Event>()
        let watcher = try SubscriptionThread(server.path, events, target: try Target("blind.example"))
        guard case .ended(let error)? = try await events.wait(for: 1).last else {
            Issue.record("no error")
            return
        }
        #expect(error.monitorError == .cannotObserve(reason: "netlink is gone"))
        watcher.stop()
    }

    @Test func `a connection over the limit is refused with an error, and the next one is admitted`() throws {
        var limits = ControlLimits()
        limits.connectionsPerUser = 3
        let server = try TestServer(limits: limits)
        var clients = try (0..<3).map { _ in try RawClient(server.path) }
        #expect(server.wait { $0.connections == 3 })
        var client = try ControlClient(path: server.path)
        do {
            _ = try client.status(of: .internet)
            Issue.record("no error")
        } catch {
            #expect(error.monitorError == .tooManyConnections(limit: 3))
        }
        #expect(server.statistics.refusedConnections == 1)
        clients.removeFirst()
        #expect(server.wait { $0.connections == 2 })
        var next = try ControlClient(path: server.path)
        #expect(try next.status(of: .internet).isReachable)
        clients = []
    }
}

/// A subscription on an event loop of its own.
private final class SubscriptionThread: @unchecked Sendable {
    private var subscription: ControlSubscription?
    private let mailbox: Mailbox
    private let ended = DispatchSemaphore(value: 0)

    init(_ path: String, _ events: EventLog<ControlSubscription.Event>, target: Target = .internet) throws {
        nonisolated(unsafe) let loop = try EventLoop()
        mailbox = loop.mailbox
        subscription = try ControlSubscription(path: path, target: target, on: loop) { events.append($0) }
        BackgroundThread.start(named: "test-watcher") { [self] in
            loop.run()
            subscription = nil
            ended.signal()
        }
    }

    func stop() {
        mailbox.post { $0.stop() }
        ended.wait()
    }
}
