import Foundation
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachControl

/// A watch through a daemon that restarts, and through a fake daemon.
@Suite(.timeLimit(.minutes(1))) struct DaemonWatchTests {
    @Test func `a watch connects to a daemon that starts later`() async throws {
        let server = try TestServer(listens: false)
        let (events, watch) = try DaemonWatcher.watch(server.path)
        guard case .unavailable(.notRunning(server.path), let change)? = try await events.wait(for: 1).first else {
            Issue.record("\(events.values)")
            return
        }
        #expect(change.state.reason == .cannotObserve)
        let path = server.path
        #expect(server.run { _, server in (try? server.listen(at: path)) != nil })
        let found = try await events.wait(for: 3)
        guard case .reconnected = found[1], case .target(.change(let first)) = found[2] else {
            Issue.record("\(found)")
            return
        }
        #expect(first.state.isReachable && first.aspects == [.status])
        watch.stop()
    }

    @Test func `a watch reconnects to a restarted daemon, and emits each difference once`() async throws {
        let server = try TestServer()
        let (events, watch) = try DaemonWatcher.watch(server.path)
        try await events.wait(for: 1)
        for round in 1...3 {
            let before = events.values.count
            let path = server.path
            server.run { _, server in server.stop() }
            try await events.wait(for: before + 1)
            server.run { service, _ in if round == 2 { service.makeUnreachable() } }
            #expect(server.run { _, server in (try? server.listen(at: path)) != nil })
            try await events.wait(for: before + (round == 2 ? 3 : 2))
            server.run { service, _ in service.change() }
            let all = try await events.wait(for: before + (round == 2 ? 4 : 3))
            let words = all[before...].map(\.word)
            #expect(words == ["disconnected", "reconnected"] + (round == 2 ? ["change"] : []) + ["change"])
        }
        watch.stop()
        #expect(server.wait { $0.connections == 0 })
    }

    @Test func `a daemon that accepts a connection and sends nothing times out after five seconds`() async throws {
        let daemon = try FakeDaemon([])
        defer { daemon.stop() }
        let start = ContinuousClock.now
        let (events, watch) = try DaemonWatcher.watch(daemon.path)
        guard case .unavailable(.timedOut(daemon.path), _)? = try await events.wait(for: 1).first else {
            Issue.record("\(events.values)")
            return
        }
        #expect(ContinuousClock.now - start >= .seconds(4))
        watch.stop()
    }

    /// Malformed answers: a name, the bytes, and a part of the error's text.
    static let nonsense: [(String, [UInt8], String)] = [
        ("garbage", Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8) + [0], "not JSON"),
        ("no object", Array("[1]".utf8) + [0], "not a JSON object"),
        ("no event", Array(#"{"parameters":{},"continues":true}"#.utf8) + [0], "event"),
        (
            "no state", Array(#"{"parameters":{"event":{"type":"snapshot"}},"continues":true}"#.utf8) + [0],
            "'seq' is missing"
        ),
        ("an endless message", [UInt8](repeating: 0x20, count: (1 << 20) + 70_000), "more than 1048576 bytes"),
        ("deep", [UInt8](repeating: UInt8(ascii: "["), count: 100_000) + [0], "not JSON"),
        ("a wrong type", Array(#"{"parameters":[]}"#.utf8) + [0], "'parameters'"),
    ]

    @Test(arguments: nonsense)
    func `a malformed answer ends the connection with an error that says so`(
        name: String, bytes: [UInt8], complaint: String
    ) async throws {
        let daemon = try FakeDaemon(bytes)
        defer { daemon.stop() }
        let (events, watch) = try DaemonWatcher.watch(daemon.path)
        guard case .unavailable(let error, _)? = try await events.wait(for: 1).first else {
            Issue.record("\(events.values)")
            return
        }
        #expect(error.description.contains("makes no sense"))
        #expect(error.description.contains(complaint), "\(error)")
        watch.stop()
        do throws(ControlError) {
            var client = try ControlClient(path: daemon.path)
            _ = try client.status(of: .internet)
            Issue.record("an answer")
        } catch {
            #expect(error.description.contains("makes no sense"), "\(error)")
        }
    }

    @Test func `an incomplete message and an empty connection are different errors`() throws {
        for (bytes, error) in [
            ([], ControlError.closed(path: "")), (Array("{\"par".utf8), .notUnderstood("it ends in the middle")),
        ] {
            let daemon = try FakeDaemon(bytes, then: .hangUp)
            defer { daemon.stop() }
            do throws(ControlError) {
                var client = try ControlClient(path: daemon.path)
                _ = try client.links()
                Issue.record("an answer")
            } catch let found {
                if case .closed = error {
                    #expect(found == .closed(path: daemon.path))
                } else {
                    #expect(found == error)
                }
            }
        }
    }

    @Test func `a daemon that does not know that clients may wait is watched all the same`() async throws {
        let change = ReachabilityChange(
            at: SystemClock.now, cause: .start, aspects: [], previous: nil, state: .reachable(.internet))
        var stream = EventStream(source: .daemon)
        var event = stream.change(change)
        event.removeLast()
        let answer = Array(#"{"parameters":{"event":"#.utf8) + event + Array(#"},"continues":true}"#.utf8) + [0]
        let daemon = try FakeDaemon(replies: [VarlinkReply.frame(of: .invalidParameter("waiting")), answer])
        defer { daemon.stop() }
        let (events, watch) = try DaemonWatcher.watch(daemon.path, seeksPath: true)
        #expect(try await events.wait(for: 1).first?.state?.isReachable == true)
        #expect(daemon.calls.values.map { $0.contains(#""waiting":true"#) } == [true, false])
        watch.stop()
    }

    @Test func `reconnecting to a daemon that answers and hangs up is not a busy loop`() async throws {
        var stream = EventStream(source: .daemon)
        var reply = stream.change(
            ReachabilityChange(
                at: SystemClock.now, cause: .start, aspects: [], previous: nil, state: .reachable(.internet)))
        reply.removeLast()
        let daemon = try FakeDaemon(
            Array(#"{"parameters":{"event":"#.utf8) + reply + Array(#"},"continues":true}"#.utf8) + [0], then: .hangUp)
        defer { daemon.stop() }
        let (events, watch) = try DaemonWatcher.watch(daemon.path)
        let start = ContinuousClock.now
        try await events.wait(for: 9)
        // The first event, then four times disconnected and reconnected, 100 ms apart.
        #expect(ContinuousClock.now - start >= .milliseconds(390))
        #expect(events.values.dropFirst().prefix(2).map(\.word) == ["disconnected", "reconnected"])
        watch.stop()
    }

    @Test func `a watch that its handler cancels emits nothing more`() async throws {
        let server = try TestServer()
        let (events, watch) = try DaemonWatcher.watch(server.path, endsAfterFirst: true)
        try await events.wait(for: 1)
        #expect(server.wait { $0.connections == 0 })
        server.run { service, _ in service.change() }
        watch.stop()
        #expect(events.values.count == 1)
    }
}

extension StreamEvent {
    fileprivate var word: String {
        switch self {
        case .target(.change): "change"
        case .target(.resync): "resync"
        case .target: "another"
        case .dropped: "dropped"
        case .snapshot: "snapshot"
        case .other(_, let type, _): type
        case .disconnected: "disconnected"
        case .reconnected: "reconnected"
        case .unavailable: "unavailable"
        }
    }
}

/// A watch on an event loop of its own.
private final class DaemonWatcher: @unchecked Sendable {
    private var watch: DaemonWatch?
    private let mailbox: Mailbox
    private let ended = DispatchSemaphore(value: 0)

    static func watch(
        _ path: String, endsAfterFirst: Bool = false, seeksPath: Bool = false
    ) throws -> (EventLog<StreamEvent>, DaemonWatcher) {
        let events = EventLog<StreamEvent>()
        return (events, try DaemonWatcher(path, events, endsAfterFirst, seeksPath))
    }

    private init(
        _ path: String, _ events: EventLog<StreamEvent>, _ endsAfterFirst: Bool, _ seeksPath: Bool
    ) throws {
        nonisolated(unsafe) let loop = try EventLoop()
        mailbox = loop.mailbox
        BackgroundThread.start(named: "test-watcher") { [self] in
            watch = DaemonWatch(path: path, target: .internet, seeksPath: seeksPath, on: loop) { [unowned self] event in
                events.append(event)
                if endsAfterFirst { watch = nil }
            }
            watch?.start()
            loop.run()
            watch = nil
            ended.signal()
        }
    }

    func stop() {
        mailbox.post { $0.stop() }
        ended.wait()
    }
}
