import Foundation
import ReachCore
import ReachTesting
import Testing

@Suite struct TimestampTests {
    @Test func `an answer from a cache was written its age before it was sent`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(HTTPDate.sent(date, age: nil) == HTTPDate.parse(date))
        #expect(HTTPDate.sent(date, age: "3600") == HTTPDate.parse("Sun, 06 Nov 1994 09:49:37 GMT"))
        #expect(HTTPDate.sent(date, age: "-5") == HTTPDate.parse(date))
        #expect(HTTPDate.sent("Fri, 01 Jan 1700 00:00:00 GMT", age: "2147483647") != nil)
        #expect(HTTPDate.sent(nil, age: "1") == nil)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000000Z"), (1, "1970-01-01T00:00:01.000000Z"), (-1, "1969-12-31T23:59:59.000000Z"),
        (86_399, "1970-01-01T23:59:59.000000Z"), (86_400, "1970-01-02T00:00:00.000000Z"),
        (-86_400, "1969-12-31T00:00:00.000000Z"), (-86_401, "1969-12-30T23:59:59.000000Z"),
        (951_782_400, "2000-02-29T00:00:00.000000Z"), (951_868_800, "2000-03-01T00:00:00.000000Z"),
        (978_307_199, "2000-12-31T23:59:59.000000Z"), (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        (4_107_542_399, "2100-02-28T23:59:59.000000Z"), (1_709_164_800, "2024-02-29T00:00:00.000000Z"),
        (2_147_483_648, "2038-01-19T03:14:08.000000Z"), (-2_203_891_200, "1900-03-01T00:00:00.000000Z"),
        (-2_203_891_201, "1900-02-28T23:59:59.000000Z"), (-9_223_372_036, "1677-09-21T00:12:44.000000Z"),
        (9_223_372_036, "2262-04-11T23:47:16.000000Z"),
    ])
    func `known times are written as in RFC 3339`(seconds: Int64, written: String) {
        #expect(Timestamp(nanosecondsSince1970: seconds * 1_000_000_000).description == written)
    }

    @Test(
        arguments: [
            (1, 5, 1_000_000_005), (-1, 5, -999_999_995), (7_258_118_400, 999, 7_258_118_400_000_000_999),
            (7_258_118_401, 999, 7_258_118_400_000_000_000), (9_300_000_000, 1, 7_258_118_400_000_000_000),
            (.max, 1, 7_258_118_400_000_000_000), (.min, 1, -2_208_988_800_000_000_000),
        ] as [(Int, Int, Int64)])
    func `a time far away that the system reports is bounded`(seconds: Int, nanoseconds: Int, expected: Int64) {
        let time = Timestamp(secondsSince1970: seconds, nanoseconds: nanoseconds)
        #expect(time == Timestamp(nanosecondsSince1970: expected))
    }

    @Test func `microseconds are rounded down, before 1970 too`() {
        #expect(Timestamp(nanosecondsSince1970: 123_456_789).description == "1970-01-01T00:00:00.123456Z")
        #expect(Timestamp(nanosecondsSince1970: 999_999_999).description == "1970-01-01T00:00:00.999999Z")
        #expect(Timestamp(nanosecondsSince1970: -1).description == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp(nanosecondsSince1970: .max).description == "2262-04-11T23:47:16.854775Z")
        #expect(Timestamp(nanosecondsSince1970: .min).description == "1677-09-21T00:12:43.145224Z")
    }

    @Test func `any time is written as Foundation's calendar writes it`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            // Foundation uses Julian dates before 15 October 1582, which 64 bits of nanoseconds do not reach.
            let second = Int64.random(in: -9_223_372_036...9_223_372_036, using: &random)
            let date = Date(timeIntervalSince1970: TimeInterval(second))
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02d.000000Z", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0)
            #expect(Timestamp(nanosecondsSince1970: second * 1_000_000_000).description == expected)
        }
    }

    @Test func `texts sort in the order of the times`() {
        let moments: [Int64] = [.min, -1_000_000_000, -1000, 0, 1000, 1_700_000_000_000_000_000, .max]
        let stamps = moments.map(Timestamp.init(nanosecondsSince1970:))
        #expect(stamps.map(\.description) == stamps.shuffled().sorted().map(\.description))
        #expect(stamps.map(\.description) == stamps.map(\.description).sorted())
    }
}
