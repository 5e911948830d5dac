import ReachCore
import Testing

@Suite struct HTTPDateTests {
    @Test(arguments: [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
        ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed, 30 Jun 2027 23:59:60 GMT", 1_814_399_999),
        ("Fri, 01 Jan 2038 00:00:00 GMT", 2_145_916_800), ("Thursday, 01-Jan-70 00:00:00 GMT", 0),
        // The first century that two digits mean, and the last year that fits.
        ("Tuesday, 01-Jan-69 00:00:00 GMT", 3_124_224_000), ("Sat, 01 Jan 2261 00:00:00 GMT", 9_183_110_400),
    ])
    func `the three forms of an HTTP date are read`(text: String, seconds: Int64) {
        #expect(HTTPDate.parse(text)?.nanosecondsSince1970 == seconds * 1_000_000_000)
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT",
        "Sun, 06 nov 1994 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "120",
        "Sun, 06 Nov 199999999999999999999 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:60 UTC",
    ])
    func `what is no HTTP date is none`(text: String) { #expect(HTTPDate.parse(text) == nil) }

    @Test(arguments: ["Wed, 01 Jan 2262 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `a date that no timestamp holds is the last one`(text: String) {
        #expect(HTTPDate.parse(text)?.nanosecondsSince1970 == .max)
    }

    @Test func `the server's time is that of the answer and the time that it spent in caches`() {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        func seconds(_ age: String?) -> Int64? {
            HTTPDate.sent(date, age: age).map { $0.nanosecondsSince1970 / 1_000_000_000 - 784_111_777 }
        }
        #expect([nil, "0", "60", "-60", "x", "99999999999"].map(seconds) == [0, 0, 60, 0, 0, 0])
        #expect(HTTPDate.sent(nil, age: "60") == nil && HTTPDate.sent("x", age: nil) == nil)
    }
}
