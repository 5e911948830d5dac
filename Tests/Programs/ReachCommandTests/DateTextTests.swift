import ReachCore
import Testing

@testable import reach

/// Points in time as people write them, in Central European Time of 2026: clocks are set forward on 29 March and back
/// on 25 October, each at 1:00 UTC.
@Suite struct DateTextTests {
    static let zone = LocalZone { time in
        let summer = (
            try! #require(Timestamp("2026-03-29T01:00:00Z")), try! #require(Timestamp("2026-10-25T01:00:00Z"))
        )
        let isSummer = summer.0 <= time && time < summer.1
        return LocalZone.Offset(seconds: isSummer ? 7200 : 3600, name: isSummer ? "CEST" : "CET")
    }

    private static let now = Timestamp("2026-11-22T12:00:00Z")

    private func parse(_ text: String, isEnd: Bool = false) throws -> String? {
        DateText.parse(text, isEnd: isEnd, now: try #require(Self.now), zone: Self.zone)?.description
    }

    @Test(arguments: [
        ("7d", "2026-11-15T12:00:00"), ("1h30m", "2026-11-22T10:30:00"), ("0", "2026-11-22T12:00:00"),
        ("2026-11-01", "2026-10-31T23:00:00"), ("2026-07-01", "2026-06-30T22:00:00"),
        ("2026-11-01 14:00", "2026-11-01T13:00:00"), ("2026-11-01T14:00:05", "2026-11-01T13:00:05"),
        ("2026-11-01 14:00:05.25", "2026-11-01T13:00:05"), ("2026-11-01T14:00Z", "2026-11-01T14:00:00"),
        ("2026-11-01 14:00 UTC", "2026-11-01T14:00:00"), ("2026-11-01 14:00 -05:30", "2026-11-01T19:30:00"),
        ("2026-11-01T14:00+0130", "2026-11-01T12:30:00"), ("2026-11-01 +02", "2026-10-31T22:00:00"),
        ("2024-02-29", "2024-02-28T23:00:00"),
    ])
    func `a duration or a date with or without time and zone is a point in time`(text: String, time: String) throws {
        #expect(try parse(text) == time + ".000000Z")
    }

    @Test func `a time that the clocks skip is later, and one that they show twice is the first`() throws {
        #expect(try parse("2026-03-29 02:30") == "2026-03-29T01:30:00.000000Z")
        #expect(try parse("2026-10-25 02:30") == "2026-10-25T00:30:00.000000Z")
        #expect(try parse("2026-10-25 03:00") == "2026-10-25T02:00:00.000000Z")
    }

    @Test func `as an end, a date means the end of its day, also of one with 23 or 25 hours`() throws {
        #expect(try parse("2026-11-30", isEnd: true) == "2026-11-30T23:00:00.000000Z")
        #expect(try parse("2026-12-31", isEnd: true) == "2026-12-31T23:00:00.000000Z")
        #expect(try parse("2026-03-29", isEnd: true) == "2026-03-29T22:00:00.000000Z")
        #expect(try parse("2026-10-25", isEnd: true) == "2026-10-25T23:00:00.000000Z")
        #expect(try parse("2026-11-30 12:00", isEnd: true) == "2026-11-30T11:00:00.000000Z")
        #expect(try parse("2026-11-30Z", isEnd: true) == "2026-12-01T00:00:00.000000Z")
    }

    @Test(arguments: [
        "", "yesterdayish", "2026-13-01", "2026-02-29", "2026-11-01 24:00", "2026-11-01 14", "2026-11-01 14:60",
        "2026-11-01T", "2026-11-01 ", "2026-11-01 14:00 +1", "2026-11-01 14:00 CET", "2026-11-01 14:00:00.", "26-11-01",
        "2026-11-01x", "9999-01-01", "0001-01-01", "-1d", "2026-11-01 14:00 +24:00",
    ])
    func `anything else is no point in time`(text: String) throws { #expect(try parse(text) == nil) }

    @Test func `a zone names what its clocks show in a period`() throws {
        let (march, november) = (try #require(Timestamp("2026-03-01T00:00:00Z")), try #require(Self.now))
        #expect(Self.zone.names(from: november, to: november) == "CET (UTC+01:00)")
        #expect(Self.zone.names(from: march, to: november) == "CET (UTC+01:00), CEST (UTC+02:00)")
        #expect(LocalZone.utc.names(from: march, to: november) == "UTC")
        #expect(Self.zone.text(november) == "2026-11-22T13:00:00+01:00")
        let newfoundland = LocalZone { _ in LocalZone.Offset(seconds: -12_600, name: "NST") }
        #expect(newfoundland.text(november) == "2026-11-22T08:30:00-03:30")
        #expect(LocalZone.utc.time(Timestamp(nanosecondsSince1970: -1)).timeOfDay == "23:59:59")
    }

    @Test func `a local time is found again for each quarter of an hour of a year, except where it is shown twice`()
        throws
    {
        var time = try #require(Timestamp("2026-01-01T00:00:00Z")).nanosecondsSince1970
        var other = 0
        for _ in 0..<(365 * 96) {
            let shown = Self.zone.time(Timestamp(nanosecondsSince1970: time))
            if Self.zone.timestamp(shown)?.nanosecondsSince1970 != time { other += 1 }
            time += 900_000_000_000
        }
        #expect(other == 4)
    }
}
