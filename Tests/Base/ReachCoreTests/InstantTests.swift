import ReachCore
import Testing

@Suite struct InstantTests {
    @Test func `a duration beyond 64 bits of nanoseconds is limited and does not trap`() {
        #expect(Duration.seconds(9_223_372_036).nanoseconds == 9_223_372_036_000_000_000)
        #expect(Duration.milliseconds(9_223_372_036_999).nanoseconds == .max)
        #expect(Duration.milliseconds(-9_223_372_036_999).nanoseconds == .min)
        #expect(Duration.seconds(Int64.max).nanoseconds == .max)
        #expect(Duration.seconds(Int64.min).nanoseconds == .min)
        #expect(Duration.nanoseconds(-1).nanoseconds == -1)
    }

    @Test func `a deadline beyond the latest time is the latest time`() {
        let now = BootTime(nanoseconds: 5_000_000_000)
        #expect(now + .seconds(Int64.max) == BootTime(nanoseconds: .max))
        #expect(now + .seconds(1) - now == .seconds(1))
        #expect(BootTime(nanoseconds: -5) + .seconds(Int64.min) == BootTime(nanoseconds: .min))
    }
}
