import Logging
import ReachCore
import ReachDaemon
import Testing

@Suite struct LogFormatTests {
    private static let time = Timestamp(nanosecondsSince1970: 1_763_694_600_123_456_000)

    private func field(_ key: String, _ value: String) -> LogMessage.Field { LogMessage.Field(key, value) }

    @Test(arguments: [
        (Logger.Level.critical, "<2>listening"), (.error, "<3>listening"), (.warning, "<4>listening"),
        (.notice, "<5>listening"),
        (.info, "<6>listening"), (.debug, "<7>listening"),
        (.trace, "<7>listening"),
    ])
    func `the journal gets the priority and no time`(level: Logger.Level, line: String) {
        #expect(LogFormat.journal.line(LogMessage(level, "listening"), at: Self.time) == line)
    }

    @Test func `outside the journal a line begins with its time and level`() {
        let message = LogMessage(.warning, "the history is unavailable", [field("error", "mkdir")])
        #expect(
            LogFormat.plain.line(message, at: Self.time)
                == "\(Self.time) warning: the history is unavailable error=mkdir")
    }

    @Test(arguments: [
        ("eth0", "eth0"), ("", "\"\""), ("two words", "\"two words\""), ("a=b", "\"a=b\""),
        ("say \"no\"", "\"say \\\"no\\\"\""), ("back\\slash and", "\"back\\\\slash and\""),
        ("back\\slash", "back\\slash"),
        ("line\nfeed", "line\\u{a}feed"), ("\u{1b}[2J", "\\u{1b}[2J"), ("\u{202e}", "\\u{202e}"),
    ])
    func `a field is one word or quoted, and never begins a new line`(value: String, written: String) {
        let message = LogMessage(.info, "change", [field("key", value)])
        #expect(LogFormat.journal.line(message, at: Self.time) == "<6>change key=\(written)")
    }

    @Test func `a message cannot forge another line or a priority`() {
        let line = LogFormat.journal.line(LogMessage(.info, "one\n<0>two\u{1b}[2J"), at: Self.time)
        #expect(line == "<6>one\\u{a}<0>two\\u{1b}[2J")
    }

    @Test func `a configured level maps to the logger's level of the same name`() {
        #expect(LogLevel.allCases.map(\.level.rawValue) == LogLevel.allCases.map(\.rawValue))
        #expect(LogLevel.allCases.map(\.level) == [.debug, .info, .notice, .warning, .error])
    }
}
