import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// Times without alerts that come again by the clocks of a zone.
@Suite struct DailyTimeTests {
    /// Berlin's clocks in 2026: summer time from 29 March until 25 October.
    private static let berlin = [
        DailyTime.Offset(from: time("2026-01-01T00:00:00Z"), seconds: 3600),
        DailyTime.Offset(from: time("2026-03-29T01:00:00Z"), seconds: 7200),
        DailyTime.Offset(from: time("2026-10-25T01:00:00Z"), seconds: 3600),
    ]

    private static func time(_ text: String) -> Timestamp { Timestamp(text) ?? at(0) }

    private static func daily(_ text: String) throws -> DailyTime {
        try #require(DailyTime(text, offsets: berlin))
    }

    @Test(arguments: [
        // Winter, and summer.
        ("day 02:00-04:00 Europe/Berlin", "2026-02-01T00:59:59Z", false),
        ("day 02:00-04:00 Europe/Berlin", "2026-02-01T01:00:00Z", true),
        ("day 02:00-04:00 Europe/Berlin", "2026-02-01T03:00:00Z", false),
        ("day 02:00-04:00 Europe/Berlin", "2026-07-01T00:00:00Z", true),
        // The night in which the clocks jump from 2 to 3, and the one that has the hour from 2 to 3 twice.
        ("day 02:00-04:00 Europe/Berlin", "2026-03-29T00:59:59Z", false),
        ("day 02:00-04:00 Europe/Berlin", "2026-03-29T01:59:59Z", true),
        ("day 02:00-04:00 Europe/Berlin", "2026-03-29T02:00:00Z", false),
        ("day 02:00-03:00 Europe/Berlin", "2026-10-25T00:30:00Z", true),
        ("day 02:00-03:00 Europe/Berlin", "2026-10-25T01:30:00Z", true),
        // Over midnight it is the day of its begin that counts: 6 June is a Saturday.
        ("sat 22:00-06:00 Europe/Berlin", "2026-06-06T03:00:00Z", false),
        ("sat 22:00-06:00 Europe/Berlin", "2026-06-06T20:00:00Z", true),
        ("sat 22:00-06:00 Europe/Berlin", "2026-06-07T03:59:59Z", true),
        ("sat 22:00-06:00 Europe/Berlin", "2026-06-07T20:00:00Z", false),
        ("mon,sat 00:00-24:00 Europe/Berlin", "2026-06-06T21:59:59Z", true),
        ("mon,sat 00:00-24:00 Europe/Berlin", "2026-06-06T22:00:00Z", false),
    ])
    func `it is whenever the zone's clocks show it`(_ text: String, _ moment: String, _ isIt: Bool) throws {
        #expect(try Self.daily(text).contains(Self.time(moment)) == isIt)
    }

    @Test func `its spans are when it is, through a year with two changes of the clocks`() throws {
        var random = SeededGenerator(seed: 50)
        let (from, to) = (Self.time("2026-01-01T07:00:00Z"), Self.time("2026-12-31T07:00:00Z"))
        let window = from.nanosecondsSince1970..<to.nanosecondsSince1970
        for text in ["day 02:00-04:00 Europe/Berlin", "sat,sun 22:00-06:00 UTC", "wed 00:00-24:00 UTC"] {
            let daily = try Self.daily(text)
            let spans = daily.spans(in: window)
            #expect(zip(spans, spans.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
            let near = spans.flatMap { [$0.lowerBound, $0.lowerBound - 1, $0.upperBound, $0.upperBound - 1] }
            for time in near + (0..<2000).map({ _ in Int64.random(in: window, using: &random) })
            where window.contains(time) {
                let isIt = daily.contains(Timestamp(nanosecondsSince1970: time))
                #expect(spans.contains { $0.contains(time) } == isIt, "\(text) \(time)")
            }
        }
    }

    @Test(arguments: [
        "day 02:00-04:00", "day 2:00-4:00 UTC", "day 02:00-25:00 UTC", "day 24:30-02:00 UTC", "day 02:00-02:00 UTC",
        "days 02:00-04:00 UTC", "sat,,sun 02:00-x UTC", "sat 02:00-04:00 Europe/Berlin x", "day 02:00 UTC", "",
    ])
    func `another text is none`(text: String) { #expect(DailyTime(text) == nil) }

    @Test func `it comes back from its bytes, and earlier readers take it for no quiet time`() throws {
        let daily = try Self.daily("thu,sat 22:00-06:00 Europe/Berlin")
        #expect(daily.description == "thu,sat 22:00-06:00 Europe/Berlin")
        let query = try HostQuery("host=*")
        let quiet = QuietTime(id: "x", query: query, from: at(0), until: at(90_000), daily: daily, why: "w")
        #expect(QuietTime(key: quiet.key, quiet.bytes) == quiet)
        let text = String(decoding: quiet.bytes, as: UTF8.self)
        #expect(!text.contains("\"from\"") && !text.contains("\"until\""))
        // Nobody may be kept busy by a time without end, or by clocks of another world.
        let long = QuietTime(id: "x", query: query, from: at(0), until: at(367 * 86_400), daily: daily)
        #expect(QuietTime(key: long.key, long.bytes) == nil)
        let wild = text.split(separator: " 7200\"").joined(separator: " \(Int64.min)\"")
        #expect(QuietTime(key: quiet.key, Array(wild.utf8))?.daily?.offsets.count == 2)
    }

    @Test func `alerts are quiet in it, and a report does not count what falls into it`() throws {
        // The tests' day is a Saturday, and begins at 3 o'clock.
        let daily = try #require(
            DailyTime("sat 02:00-03:13 UTC", offsets: [.init(from: at(-90_000), seconds: 0)]))
        let quiet = QuietTime(id: "x", query: .all, from: at(-86_400), until: at(90_000), daily: daily)
        #expect([-3601.0, -3600, 779, 780].map { quiet.isActive(at: at($0)) } == [false, true, true, false])
        #expect(ExampleReport.make(quiet: quiet).hosts[2].availability.quiet == .seconds(180))
    }
}
