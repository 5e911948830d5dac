import ReachCore
import ReachSession
import Testing

/// RFC 9111 by tables: what is stored, how long it is fresh, and what a request makes of it.
@Suite struct CacheRuleTests {
    /// 2030-01-01T12:00:00Z.
    private static let noon = Timestamp(nanosecondsSince1970: 1_893_499_200_000_000_000)
    private static let date = "Tue, 01 Jan 2030 12:00:00 GMT"

    private static func later(_ seconds: Int) -> Timestamp {
        Timestamp(nanosecondsSince1970: noon.nanosecondsSince1970 + Int64(seconds) * 1_000_000_000)
    }

    private static func fields(_ lines: [String]) -> [HeaderField] {
        lines.map { line in
            let sides = line.split(separator: ": ", maxSplits: 1)
            return HeaderField(String(sides[0]), sides.count > 1 ? String(sides[1]) : "")
        }
    }

    private static func response(_ lines: [String], status: Int = 200, date: String? = date) -> CachedResponse {
        CachedResponse(
            url: "http://example.org/", status: status,
            fields: fields((date.map { ["Date: \($0)"] } ?? []) + lines), requested: noon, received: noon)
    }

    // MARK: - Cache-Control

    @Test func `directives are read in any case, from several fields, quoted and with blanks`() {
        let control = CacheControl(
            Self.fields([
                "cache-control: No-Cache=\"a, b\", max-age = \"7\" ,, foo", "Cache-Control: Only-If-Cached,x=1",
            ]))
        #expect(control.noCache && control.maximumAge == 7 && control.onlyIfCached && !control.noStore)
    }

    @Test(
        arguments: [
            ("max-age=0", 0), ("max-age=60", 60), ("max-age", 0), ("max-age=x", 0), ("max-age=-1", 0),
            ("max-age=99999999999999999999", 1 << 31), ("max-age=1, max-age=2", 1), ("public", nil),
        ] as [(String, Int64?)])
    func `seconds that cannot be read are none, and the first of several counts`(text: String, expected: Int64?) {
        #expect(CacheControl(Self.fields(["Cache-Control: \(text)"])).maximumAge == expected)
    }

    @Test func `Pragma counts only without Cache-Control`() {
        #expect(CacheControl(Self.fields(["Pragma: no-cache"])).noCache)
        #expect(!CacheControl(Self.fields(["Pragma: no-cache", "Cache-Control: max-age=1"])).noCache)
    }

    // MARK: - Storing

    @Test(
        arguments: [
            (200, [], [], true), (404, [], [], true), (500, [], [], false),
            (500, [], ["Cache-Control: max-age=1"], true),
            (201, [], [], false), (201, [], ["Expires: x"], true), (206, [], ["Cache-Control: max-age=1"], false),
            (304, [], [], false), (301, [], ["Cache-Control: max-age=1"], false), (101, [], [], false),
            (200, [], ["Cache-Control: no-store, max-age=1"], false), (200, ["Cache-Control: no-store"], [], false),
            (200, [], ["Cache-Control: private"], true), (200, [], ["Cache-Control: no-cache"], true),
            (200, [], ["Cache-Control: s-maxage=1"], true), (418, [], ["Cache-Control: public"], true),
            (200, [], ["Vary: a, *"], false), (200, [], ["Vary: a"], true),
            (200, ["Authorization: Bearer x"], [], true), (200, ["Range: bytes=0-1"], [], false),
            (200, ["If-None-Match: x"], [], false),
        ] as [(Int, [String], [String], Bool)])
    func `a private cache stores what it may and can use`(
        status: Int, request: [String], response: [String], expected: Bool
    ) {
        let query = CacheQuery(fields: Self.fields(request))
        #expect(CacheRules.mayStore(query, status: status, fields: Self.fields(response)) == expected)
    }

    @Test func `a response to HEAD is not stored`() {
        #expect(!CacheRules.mayStore(CacheQuery(isHead: true), status: 200, fields: []))
    }

    @Test func `fields about the connection are not stored`() {
        let fields = Self.fields([
            "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Transfer-Encoding: chunked", "Upgrade: h2c",
            "Proxy-Authenticate: Basic", "ETag: \"a\"",
        ])
        #expect(CacheRules.storable(fields).map(\.name) == ["ETag"])
    }

    @Test(arguments: [
        ("POST", 200, true), ("PUT", 204, true), ("DELETE", 302, true), ("PATCH", 404, false), ("POST", 500, false),
        ("LINK", 200, true), ("GET", 200, false), ("HEAD", 200, false), ("OPTIONS", 200, false), ("TRACE", 200, false),
    ])
    func `answers to unsafe methods invalidate`(method: String, status: Int, expected: Bool) {
        #expect(CacheRules.invalidates(method, status: status) == expected)
    }

    // MARK: - Freshness

    @Test(
        arguments: [
            (["Cache-Control: max-age=60"], 60), (["Cache-Control: max-age=60", "Expires: \(date)"], 60),
            (["Expires: Tue, 01 Jan 2030 12:00:30 GMT"], 30), (["Expires: Tue, 01 Jan 2030 11:00:00 GMT"], 0),
            (["Expires: 0", "Last-Modified: Tue, 01 Jan 2030 10:00:00 GMT"], 0),
            (["Last-Modified: Tue, 01 Jan 2030 11:00:00 GMT"], 360),
            (["Last-Modified: Tue, 01 Jan 2030 13:00:00 GMT"], 0),
            (["Last-Modified: Sun, 01 Jan 2023 12:00:00 GMT"], 86_400), (["Last-Modified: x"], 0), ([], 0),
            (["Cache-Control: s-maxage=60"], 0),
        ] as [([String], Int64)])
    func `a response is fresh for as long as the server says, or for a tenth of its age`(
        lines: [String], expected: Int64
    ) {
        #expect(Self.response(lines).lifetime == expected)
    }

    @Test func `without a date the time of arrival counts`() {
        let response = Self.response(["Expires: Tue, 01 Jan 2030 12:00:30 GMT"], date: nil)
        #expect(response.lifetime == 30 && response.age(at: Self.later(7)) == 7)
    }

    @Test func `a status that may not be guessed about has no guessed lifetime`() {
        let lines = ["Last-Modified: Tue, 01 Jan 2030 11:00:00 GMT"]
        #expect(Self.response(lines, status: 201).lifetime == 0)
        #expect(Self.response(lines + ["Cache-Control: public"], status: 201).lifetime == 360)
    }

    @Test(
        arguments: [
            ([], 0, 0, 10), (["Age: 100"], 0, 0, 110), (["Age: 100"], 5, 0, 115), (["Age: x"], 0, 0, 10),
            // The date is of an hour before, or after, the arrival.
            ([], 0, -3600, 3610), (["Age: 5000"], 0, -3600, 5010), ([], 0, 3600, 10),
        ] as [([String], Int, Int, Int)])
    func `the age counts from the date or from what a cache on the way says, whichever is more`(
        lines: [String], delay: Int, offset: Int, expected: Int
    ) {
        let date = ["-3600": "11:00:00", "3600": "13:00:00"]["\(offset)"] ?? "12:00:00"
        var response = Self.response(lines, date: "Tue, 01 Jan 2030 \(date) GMT")
        response.requested = Self.later(-delay)
        #expect(response.age(at: Self.later(10)) == Int64(expected))
    }

    @Test func `a clock that was set back makes a response stale`() {
        let response = Self.response(["Cache-Control: max-age=3600"])
        #expect(CacheDecision(.useProtocol, response, CacheQuery(), at: Self.later(-60)) == .validate)
    }

    // MARK: - Decisions

    private static let fresh = response(["Cache-Control: max-age=100", "ETag: \"a\""])
    private static let use = CacheUse(age: .seconds(10))
    private static let stale = CacheUse(age: .seconds(110), isStale: true)

    @Test(arguments: [
        (CachePolicy.useProtocol, 10, CacheDecision.answer(use)), (.useProtocol, 110, .validate),
        (.returnCacheWhenOffline, 10, .answer(use)), (.returnCacheWhenOffline, 110, .validate),
        (.reload, 10, .send), (.reload, 110, .send),
        (.returnCacheElseLoad, 10, .answer(use)), (.returnCacheElseLoad, 110, .answer(stale)),
        (.returnCacheDontLoad, 10, .answer(use)), (.returnCacheDontLoad, 110, .answer(stale)),
    ])
    func `a policy decides about a fresh and a stale response`(
        policy: CachePolicy, age: Int, expected: CacheDecision
    ) {
        #expect(CacheDecision(policy, Self.fresh, CacheQuery(), at: Self.later(age)) == expected)
    }

    @Test(arguments: CachePolicy.allCases)
    func `without a stored response the request is sent, unless it may not be`(policy: CachePolicy) {
        let expected: CacheDecision = policy == .returnCacheDontLoad ? .unavailable : .send
        #expect(CacheDecision(policy, nil, CacheQuery(), at: Self.noon) == expected)
    }

    @Test(arguments: [
        // The request's directives: at 10 s of 100, and at 110 s.
        ("no-cache", CacheDecision.validate, CacheDecision.validate), ("no-store", .send, .send),
        ("max-age=5", .validate, .validate), ("max-age=10", .answer(use), .validate),
        ("max-age=0", .validate, .validate),
        ("min-fresh=89", .answer(use), .validate), ("min-fresh=90", .validate, .validate),
        ("max-stale", .answer(use), .answer(stale)), ("max-stale=10", .answer(use), .answer(stale)),
        ("max-stale=9", .answer(use), .validate), ("max-stale, max-age=50", .answer(use), .validate),
        ("only-if-cached", .answer(use), .unavailable), ("only-if-cached, max-stale", .answer(use), .answer(stale)),
    ])
    func `a request's directives limit what it accepts`(text: String, young: CacheDecision, old: CacheDecision) {
        let query = CacheQuery(fields: [HeaderField("Cache-Control", text)])
        #expect(CacheDecision(.useProtocol, Self.fresh, query, at: Self.later(10)) == young)
        #expect(CacheDecision(.useProtocol, Self.fresh, query, at: Self.later(110)) == old)
    }

    @Test(arguments: [
        ("max-age=100, no-cache", "", 10), ("max-age=100, no-cache=\"a\"", "", 10),
        ("max-age=100, must-revalidate", "max-stale", 110), ("max-age=0", "", 0),
    ])
    func `a response's directives demand validation`(response: String, request: String, age: Int) {
        let query = CacheQuery(fields: [HeaderField("Cache-Control", request)])
        let stored = Self.response(["Cache-Control: \(response)"])
        #expect(CacheDecision(.useProtocol, stored, query, at: Self.later(age)) == .validate)
    }

    @Test func `HEAD uses a fresh response to GET, and validates none`() {
        let query = CacheQuery(isHead: true)
        #expect(CacheDecision(.useProtocol, Self.fresh, query, at: Self.later(10)) == .answer(Self.use))
        #expect(CacheDecision(.useProtocol, Self.fresh, query, at: Self.later(110)) == .send)
    }

    @Test(arguments: ["Range", "If-None-Match", "If-Modified-Since", "if-match", "If-Range"])
    func `a request with conditions of its own passes by the cache`(name: String) {
        let query = CacheQuery(fields: [HeaderField(name, "x")])
        for policy in CachePolicy.allCases {
            #expect(CacheDecision(policy, Self.fresh, query, at: Self.later(10)) == .send)
        }
    }

    @Test func `a response with Vary answers only requests with the same values`() {
        let query = CacheQuery(fields: Self.fields(["Accept-Language: de", "accept-language: en", "X: 1"]))
        var stored = Self.fresh
        stored.fields.append(HeaderField("Vary", "Accept-Language, Y"))
        stored.selecting = CacheRules.selecting(query, by: stored.fields)
        #expect(stored.answers(query))
        #expect(stored.answers(CacheQuery(fields: Self.fields(["Accept-Language: de, en", "X: 2"]))))
        #expect(!stored.answers(CacheQuery(fields: Self.fields(["Accept-Language: en"]))))
        #expect(!stored.answers(CacheQuery(fields: query.fields + Self.fields(["Y: 1"]))))
    }

    @Test func `a response to a request with credentials answers only requests with the same`() {
        var stored = Self.fresh
        stored.authorization = "digest"
        #expect(stored.answers(CacheQuery(authorization: "digest")))
        #expect(!stored.answers(CacheQuery()) && !stored.answers(CacheQuery(authorization: "other")))
        #expect(!Self.fresh.answers(CacheQuery(authorization: "digest")))
    }

    @Test(arguments: [
        ("max-age=100, stale-if-error=20", 120, true), ("max-age=100, stale-if-error=20", 121, false),
        ("max-age=100", 101, false), ("max-age=100, stale-if-error=20, must-revalidate", 110, false),
        ("max-age=100, stale-if-error=20, no-cache", 10, false),
    ])
    func `a stale response replaces a failure for as long as the server allows`(
        control: String, age: Int, expected: Bool
    ) {
        #expect(Self.response(["Cache-Control: \(control)"]).mayReplaceFailure(at: Self.later(age)) == expected)
    }

    // MARK: - Validation

    @Test func `a validation names the entity tag and the date`() {
        let date = "Tue, 01 Jan 2030 11:00:00 GMT"
        let response = Self.response(["ETag: W/\"a\"", "Last-Modified: \(date)"])
        #expect(
            response.validators == [HeaderField("If-None-Match", "W/\"a\""), HeaderField("If-Modified-Since", date)])
        #expect(Self.response(["Last-Modified: yesterday"]).validators == [])
    }

    @Test func `a 304 renews the fields and the times, and leaves the body's alone`() {
        var response = Self.response([
            "ETag: \"a\"", "Cache-Control: max-age=1", "Age: 7", "Content-Length: 5", "Content-Type: text/plain",
        ])
        response.update(
            by: Self.fields([
                "Date: Tue, 01 Jan 2030 13:00:00 GMT", "Cache-Control: max-age=9", "Content-Length: 0",
                "Content-Type: x",
                "Connection: close", "X-New: 1",
            ]), requested: Self.later(3600), received: Self.later(3600))
        #expect(response["cache-control"] == "max-age=9" && response["content-length"] == "5")
        #expect(response["content-type"] == "text/plain" && response["x-new"] == "1" && response["etag"] == "\"a\"")
        #expect(response["connection"] == nil && response["age"] == nil)
        #expect(response.age(at: Self.later(3605)) == 5)
    }

    @Test(arguments: [("\"a\"", true), ("W/\"a\"", true), ("\"b\"", false), (nil, true)] as [(String?, Bool)])
    func `a 304 that names another entity tag is not about the stored response`(tag: String?, expected: Bool) {
        let fields = tag.map { [HeaderField("ETag", $0)] } ?? []
        #expect(Self.fresh.isConfirmed(by: fields) == expected)
    }

    // MARK: - Sizes and files

    @Test func `a shelf stays within its bytes, and what was not used for longest goes first`() {
        var shelf = CacheShelf(capacity: 100)
        #expect(shelf.add("a", bytes: 40) == [] && shelf.add("b", bytes: 40) == [])
        shelf.use("a")
        #expect(shelf.add("c", bytes: 40) == ["b"] && shelf.bytes == 80 && shelf.longest == 12)
        #expect(shelf.add("a", bytes: 10) == [] && shelf.bytes == 50)
        shelf.remove("a")
        #expect(shelf.names == ["c"] && shelf.bytes == 40)
        #expect(shelf.add("d", bytes: 101) == ["c", "d"] && shelf.bytes == 0)
    }

    @Test func `of what Vary names only digests are stored, and of too many names nothing`() {
        let query = CacheQuery(fields: [HeaderField("Authorization", "Bearer secret"), HeaderField("Accept", "a")])
        var fields = [HeaderField("Vary", "authorization, accept, x"), HeaderField("Cache-Control", "max-age=9")]
        let selecting = CacheRules.selecting(query, by: fields)
        #expect(Set(selecting.keys) == ["authorization", "accept", "x", "cookie"] && selecting["x"] == .some(nil))
        #expect(selecting.values.allSatisfy { $0?.contains("secret") != true })
        #expect(CacheRules.mayStore(query, status: 200, fields: fields))
        fields[0] = HeaderField("Vary", (0..<65).map { "x\($0)" }.joined(separator: ","))
        #expect(!CacheRules.mayStore(query, status: 200, fields: fields))
    }

    @Test func `a file gives back what was stored, and nothing once a byte of it differs or is missing`() {
        var stored = Self.response(["ETag: \"ü\\\"", "X:"])
        stored.body = Array("one\ntwo\n\u{0}".utf8)
        stored.selecting = ["accept": "a", "y": nil]
        stored.authorization = "digest"
        let file = stored.file
        #expect(CachedResponse(file: file) == stored)
        for count in 0..<file.count { #expect(CachedResponse(file: Array(file[..<count])) == nil) }
        for index in file.indices {
            var damaged = file
            damaged[index] ^= 1
            #expect(CachedResponse(file: damaged) == nil, "byte \(index)")
        }
    }
}
