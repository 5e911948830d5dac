import ReachCore
import ReachTesting
import Testing

@Suite struct DurationTextTests {
    @Test(
        arguments: [
            ("0", .zero), ("10", .seconds(10)), ("1.5", .milliseconds(1500)), ("500ms", .milliseconds(500)),
            ("250us", .microseconds(250)), ("10s", .seconds(10)), ("2m", .seconds(120)), ("1.5h", .seconds(5400)),
            ("1m30s", .seconds(90)), ("1d12h", .seconds(129_600)), ("0.5ms", .microseconds(500)), ("0s", .zero),
            ("36525d", .seconds(3_155_760_000)), ("007s", .seconds(7)), ("1s1s", .seconds(2)),
        ] as [(String, Duration)])
    func `durations are read in all their forms`(text: String, duration: Duration) {
        #expect(DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        "", " ", "s", "ms", ".", ".5s", "5.s", "1.2.3s", "-1s", "+1s", "1 s", " 1s", "1s ", "1m30", "30 ", "1x", "1S",
        "1sec",
        "1e3", "0x10", "inf", "nan", "1,5s", "٣s", "1s\0", "1w", "40000d", "99999999999999999999", "5µs",
    ])
    func `anything else is no duration`(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test func `a number of a thousand digits is refused`() {
        #expect(DurationText.parse(String(repeating: "9", count: 1000) + "s") == nil)
        #expect(DurationText.parse(String(repeating: "1000d", count: 1000)) == nil)
        #expect(DurationText.parse(String(repeating: "0", count: 1000) + "1s") == .seconds(1))
    }

    @Test func `a decimal fraction of a second equals its milliseconds`() {
        let wrong = (0...20_000).filter { milliseconds in
            let rest = String(1000 + milliseconds % 1000).dropFirst()
            return DurationText.parse("\(milliseconds / 1000).\(rest)s") != .milliseconds(milliseconds)
        }
        #expect(wrong == [])
    }

    @Test(
        arguments: [
            (.zero, "0 ms"), (.milliseconds(80), "80 ms"), (.milliseconds(999), "999 ms"), (.seconds(1), "1.0 s"),
            (.milliseconds(1250), "1.2 s"), (.milliseconds(9999), "9.9 s"), (.seconds(10), "10 s"),
            (.seconds(59), "59 s"),
            (.seconds(60), "1 min 0 s"), (.seconds(725), "12 min 5 s"), (.seconds(3600), "1 h 0 min"),
            (.seconds(86_399), "23 h 59 min"), (.seconds(86_400), "1 d 0 h"), (.seconds(273_600), "3 d 4 h"),
            (.seconds(Int64.max), "106751 d 23 h"),
        ] as [(Duration, String)])
    func `durations are described in about two units`(duration: Duration, text: String) {
        #expect(DurationText.describe(duration) == text)
    }
}
