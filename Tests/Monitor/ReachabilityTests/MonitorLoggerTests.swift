internal import Logging
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// The logger that a program gives to a monitor.
@Suite(.timeLimit(.minutes(1))) struct MonitorLoggerTests {
    private struct Handler: LogHandler {
        let lines: EventLog<String>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            let texts = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            lines.append("\(event.level): \(event.message) \(texts.joined(separator: " "))")
        }
    }

    private func options(_ level: Logger.Level, _ lines: EventLog<String>) -> ReachabilityOptions {
        var options = ReachabilityOptions()
        options.notificationCenter = ReachabilityNotificationCenter()
        options.delivery = .immediate
        var logger = Logger(label: "example") { _ in Handler(lines: lines) }
        logger.logLevel = level
        logger[metadataKey: "part"] = "sync"
        options.logger = logger
        return options
    }

    @Test func `a network that cannot be observed is logged at debug, with the target and the caller's metadata`()
        throws
    {
        let lines = EventLog<String>()
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(
            try Target("192.0.2.1"), options: options(.debug, lines), source: source)
        monitor.start()
        source.report(.away)
        #expect(lines.values.isEmpty, "what programs receive as changes is not logged")
        source.report(Verdict(.unknown, reason: .cannotObserve))
        #expect(lines.values == ["debug: the network cannot be observed part=sync target=192.0.2.1"])
        monitor.stop()
    }

    @Test(arguments: [Logger.Level.info, .notice, .critical])
    func `nothing is logged below the logger's level`(level: Logger.Level) {
        let lines = EventLog<String>()
        let monitor = ReachabilityMonitor(
            .internet, options: options(level, lines), source: FakeSource(Verdict(.unknown, reason: .cannotObserve)))
        monitor.start()
        #expect(monitor.reason == .cannotObserve && lines.values.isEmpty)
        monitor.stop()
    }

    @Test(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
    func `a daemon that is missing, goes away and comes back is logged once each time`() async throws {
        let stage = try DaemonStage()
        defer { stage.end() }
        let lines = EventLog<String>()
        var options = options(.debug, lines)
        options.source = .daemon(socket: stage.socket)
        let monitor = ReachabilityMonitor(options: options)
        monitor.start()
        let missing = "debug: the network cannot be observed part=sync target=internet"
        #expect(try await lines.wait(for: 1) == [missing])
        try stage.start()
        let back = "debug: the daemon is back part=sync target=internet"
        #expect(try await lines.wait(for: 2) == [missing, back])
        try stage.kill()
        let gone = "debug: the daemon is gone part=sync target=internet"
        #expect(try await lines.wait(for: 3) == [missing, back, gone])
        try stage.start()
        #expect(try await lines.wait(for: 4) == [missing, back, gone, back])
        monitor.stop()
    }
}
