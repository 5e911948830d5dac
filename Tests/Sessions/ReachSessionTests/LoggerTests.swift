import Logging
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// The logger that a program hands to a session, or to a monitor.
@Suite(.timeLimit(.minutes(1))) struct LoggerTests {
    /// What a handler was called with.
    private struct Line: Sendable {
        let label: String
        let level: Logger.Level
        let message: String
        let metadata: Logger.Metadata
    }

    private struct Handler: LogHandler {
        let label: String
        let lines: EventLog<Line>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        init(_ label: String, _ lines: EventLog<Line>) {
            self.label = label
            self.lines = lines
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.append(
                Line(
                    label: label, level: event.level, message: "\(event.message)",
                    metadata: metadata.merging(event.metadata ?? [:]) { _, new in new }))
        }
    }

    private func logger(_ level: Logger.Level, _ lines: EventLog<Line>) -> Logger {
        var logger = Logger(label: "example") { Handler($0, lines) }
        logger.logLevel = level
        logger[metadataKey: "part"] = "sync"
        return logger
    }

    private func failingRequest(_ logger: Logger?) async throws -> String {
        var options = RequestSessionOptions()
        options.logger = logger
        let session = try RequestSession(options: options)
        let port = try TestProgram.freePort()
        defer { session.close() }
        return await failure { try await session.get("http://127.0.0.1:\(port)/secret?token=1").response() }
    }

    @Test func `a failed attempt is logged with the host, the caller's metadata, and without the URL`() async throws {
        let lines = EventLog<Line>()
        #expect(try await failingRequest(logger(.debug, lines)) == "destination connection-refused")
        let line = try #require(lines.values.first)
        #expect(lines.values.count == 1 && line.label == "example" && line.level == .debug)
        #expect(line.message == "an attempt failed")
        #expect(line.metadata["part"] == "sync" && line.metadata["host"] == "127.0.0.1")
        #expect(Set(line.metadata.keys) == ["part", "host", "request", "error"])
        #expect(!"\(line.metadata)".contains("secret") && !"\(line.metadata)".contains("token"))
    }

    @Test(arguments: [Logger.Level.info, .notice, .critical])
    func `nothing is logged below the logger's level`(level: Logger.Level) async throws {
        let lines = EventLog<Line>()
        #expect(try await failingRequest(logger(level, lines)) == "destination connection-refused")
        #expect(lines.values.isEmpty)
    }

    @Test func `a directory that cannot be used is logged`() async throws {
        let directory = try TemporaryDirectory()
        let lines = EventLog<Line>()
        var options = RequestSessionOptions()
        options.logger = logger(.trace, lines)
        _ = try ChildProcess.run(["mkdir", "-p", directory.path + "/queue/queue.sqlite"])
        let session = try RequestSession(keeping: .directory(directory.path + "/queue"), options: options)
        _ = await session.tasks()
        #expect(try await lines.wait(for: 1).allSatisfy { $0.level == .debug && $0.metadata["part"] == "sync" })
        await session.closeAndWait()
    }
}
