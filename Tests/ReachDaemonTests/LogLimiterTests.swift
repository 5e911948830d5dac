import Logging
import ReachCore
import ReachDaemon
import Testing

@Suite struct LogLimiterTests {
    private var limiter = LogLimiter()

    private static func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    /// What is let through of `count` equal messages at one moment.
    private mutating func say(_ text: String, _ count: Int = 1, at seconds: Double) -> [String] {
        (0..<count).flatMap { _ in limiter.admit(LogMessage(.info, text), at: Self.at(seconds)) }.map(Self.shown)
    }

    private static func shown(_ message: LogMessage) -> String {
        message.text + message.fields.map { " \($0.key)=\($0.value)" }.joined()
    }

    @Test mutating func `five in ten seconds are let through, the others are counted`() {
        #expect(say("a", 5, at: 0) == ["a", "a", "a", "a", "a"])
        #expect(say("a", 20, at: 9.9) == [])
        #expect(say("a", at: 10) == ["a repeated=20", "a"])
        #expect(say("a", 5, at: 10) == ["a", "a", "a", "a"])
    }

    @Test mutating func `whatever is logged next tells the counts that are due`() {
        _ = say("a", 7, at: 0)
        _ = say("b", 6, at: 5)
        #expect(say("c", at: 9) == ["c"])
        #expect(say("c", at: 11) == ["a repeated=2", "c"])
        #expect(say("d", at: 15) == ["b repeated=1", "d"])
    }

    @Test mutating func `fields do not make a message another one, its level does`() {
        for number in 1...6 {
            let message = LogMessage(.info, "a", [LogMessage.Field("number", "\(number)")])
            #expect(limiter.admit(message, at: Self.at(0)).isEmpty == (number == 6))
        }
        #expect(limiter.admit(LogMessage(.error, "a"), at: Self.at(0)).count == 1)
    }

    @Test mutating func `at the end what was counted is told`() {
        _ = say("a", 8, at: 0)
        _ = say("b", 5, at: 0)
        #expect(limiter.drain().map(Self.shown) == ["a repeated=3"])
        #expect(limiter.drain().isEmpty)
    }

    @Test mutating func `any number of different messages is counted in bounded memory, and none is lost`() {
        var told = 0
        for number in 0..<1000 {
            for text in say("message \(number)", 7, at: Double(number) / 1000) {
                told += text.contains("repeated=2") ? 2 : 1
            }
        }
        told += limiter.drain().count * 2
        #expect(told == 7000)
    }
}
