import Logging
import ReachCore
import ReachDaemon
import Testing

@Suite struct LogLimiterTests {
    private var limiter = LogLimiter()

    private static func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    /// The messages that are logged of `count` equal ones at the same time.
    private mutating func say(_ text: String, _ count: Int = 1, at seconds: Double) -> [String] {
        (0..<count).flatMap { _ in limiter.admit(LogMessage(.info, text), at: Self.at(seconds)) }.map(Self.shown)
    }

    private static func shown(_ message: LogMessage) -> String {
        message.text + message.fields.map { " \($0.key)=\($0.value)" }.joined()
    }

    @Test mutating func `five equal messages in ten seconds are logged, the others counted`() {
        #expect(say("a", 5, at: 0) == ["a", "a", "a", "a", "a"])
        #expect(say("a", 20, at: 9.9) == [])
        #expect(say("a", at: 10) == ["a repeated=20", "a"])
        #expect(say("a", 5, at: 10) == ["a", "a", "a", "a"])
    }

    @Test mutating func `counts that are due come with the next message`() {
        _ = say("a", 7, at: 0)
        _ = say("b", 6, at: 5)
        #expect(say("c", at: 9) == ["c"])
        #expect(say("c", at: 11) == ["a repeated=2", "c"])
        #expect(say("d", at: 15) == ["b repeated=1", "d"])
    }

    @Test mutating func `messages that differ only in fields are equal, not those that differ in level`() {
        for number in 1...6 {
            let message = LogMessage(.info, "a", [LogMessage.Field("number", "\(number)")])
            #expect(limiter.admit(message, at: Self.at(0)).isEmpty == (number == 6))
        }
        #expect(limiter.admit(LogMessage(.error, "a"), at: Self.at(0)).count == 1)
    }

    @Test mutating func `draining returns the counts`() {
        _ = say("a", 8, at: 0)
        _ = say("b", 5, at: 0)
        #expect(limiter.drain().map(Self.shown) == ["a repeated=3"])
        #expect(limiter.drain().isEmpty)
    }

    @Test mutating func `any number of different messages is counted in bounded memory, without loss`() {
        var total = 0
        for number in 0..<1000 {
            for text in say("message \(number)", 7, at: Double(number) / 1000) {
                total += text.contains("repeated=2") ? 2 : 1
            }
        }
        total += limiter.drain().count * 2
        #expect(total == 7000)
    }
}
