import ReachCore
import ReachTesting
import Testing

@Suite struct TimestampTextTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.000000001Z", 1), ("1969-12-31T23:59:59.999999Z", -1000),
        ("2026-11-21T03:10:00.123456Z", 1_795_230_600_123_456_000), ("2000-02-29T12:00:00.5Z", 951_825_600_500_000_000),
        ("2262-04-11T23:47:16.854775807Z", Int64.max),
    ])
    func `a time is read to the nanosecond`(text: String, nanoseconds: Int64) {
        #expect(Timestamp(text) == Timestamp(nanosecondsSince1970: nanoseconds))
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T03:10:00", "2026-11-21T03:10:00+01:00", "2026-11-21 03:10:00Z",
        "2026-11-21T03:10:00.Z", "2026-11-21T03:10:00.0000000001Z", "2026-13-21T03:10:00Z", "2026-00-21T03:10:00Z",
        "2026-02-29T03:10:00Z", "1900-02-29T00:00:00Z", "2026-11-00T03:10:00Z", "2026-11-31T03:10:00Z",
        "2026-11-21T24:00:00Z", "2026-11-21T03:60:00Z", "2026-11-21T03:10:60Z", "2026-11-21T03:10:00Zz",
        "+026-11-21T03:10:00Z", "2026-1-21T03:10:00Z", "2262-04-11T23:47:16.854775808Z", "9999-12-31T23:59:59Z",
        "0000-01-01T00:00:00Z", "２026-11-21T03:10:00Z",
    ])
    func `anything else is no timestamp`(text: String) {
        #expect(Timestamp(text) == nil)
    }

    @Test func `a written time is read back to the microsecond`() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            let microseconds = Int64.random(in: -9_000_000_000_000_000...9_000_000_000_000_000, using: &random)
            let time = Timestamp(nanosecondsSince1970: microseconds * 1000)
            #expect(Timestamp(time.description) == time)
        }
    }
}
