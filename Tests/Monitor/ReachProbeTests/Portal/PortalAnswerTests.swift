import ReachCore
import ReachProbe
import Testing

@Suite struct PortalAnswerTests {
    private func answer(
        _ body: String, type: String? = "application/captive+json", status: Int = 200, cache: String? = nil
    ) throws(PortalTrouble) -> PortalAnswer {
        var headers: [HeaderField] = []
        if let type { headers.append(HeaderField("Content-Type", type)) }
        if let cache { headers.append(HeaderField("Cache-Control", cache)) }
        return try PortalAnswer(
            .response(EndpointResponse(status: status, headers: headers, body: Array(body.utf8))))
    }

    @Test func `every member of RFC 8908 is read`() throws {
        let body = """
            {"captive": true, "user-portal-url": "https://example.org/portal.html",
             "venue-info-url": "https://flight.example.com/entertainment", "seconds-remaining": 326,
             "bytes-remaining": 65536, "can-extend-session": true, "other": [1]}
            """
        let found = try answer(body, cache: "private, max-age=60")
        #expect(found.isCaptive)
        #expect(found.userPortalURL == "https://example.org/portal.html")
        #expect(found.venueInfoURL == "https://flight.example.com/entertainment")
        #expect(found.secondsRemaining == 326)
        #expect(found.bytesRemaining == 65_536)
        #expect(found.canExtendSession == true)
        #expect(found.freshTime == .seconds(60))
    }

    @Test(arguments: [
        "", "{}", "[true]", "true", #"{"captive": "true"}"#, #"{"captive": 1}"#, #"{"captive": null}"#,
        #"{"captive": true"#, #"{"captive": true} x"#, #"{"captive": true, "captive": false}"#,
        #"{"captive": false, "seconds-remaining": 99999999999999999999}"#,
        #"{"a": "# + String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000) + #", "captive": true}"#,
        #"{"captive": true, "a": ""# + String(repeating: "x", count: 10_000_000) + #""}"#,
    ])
    func `what is not an answer of an API is none`(body: String) {
        #expect(throws: PortalTrouble.wrongAnswer) { try answer(body) }
    }

    @Test(arguments: [nil, "", "application/json", "text/html", "application/captive+json2"])
    func `another media type is not an answer`(type: String?) {
        #expect(throws: PortalTrouble.wrongAnswer) { try answer(#"{"captive": false}"#, type: type) }
    }

    @Test(arguments: ["application/captive+json", "Application/Captive+JSON ; charset=utf-8"])
    func `the media type may have parameters, in any case`(type: String) throws {
        #expect(try !answer(#"{"captive": false}"#, type: type).isCaptive)
    }

    @Test(arguments: [301, 302, 307, 404, 500, 511, 204])
    func `another status is not an answer`(status: Int) {
        #expect(throws: PortalTrouble.wrongAnswer) { try answer(#"{"captive": false}"#, status: status) }
    }

    @Test(arguments: [
        "javascript:alert(1)", "ftp://a.example/", "file:///etc/passwd", "https://a.example/\\u001b[2J", "https://",
        "https://user:word@a.example/", "https://a.example/\\u0000", "https://a.example/\\u202e", "/relative",
        "https://a.example/" + String(repeating: "x", count: 2001),
    ])
    func `a page that is not one of http or https, or has other characters, is not kept`(page: String) throws {
        let found = try answer(#"{"captive": true, "user-portal-url": ""# + page + #"", "venue-info-url": 5}"#)
        #expect(found.isCaptive)
        #expect(found.userPortalURL == nil)
        #expect(found.venueInfoURL == nil)
    }

    @Test func `an answer and its pages may be as long as their limits, and no longer`() throws {
        func padded(to count: Int) -> String {
            let body = #"{"captive": true}"#
            return body + String(repeating: " ", count: count - body.utf8.count)
        }
        #expect(try answer(padded(to: PortalAnswer.limitBytes - 1)).isCaptive)
        // It may have been cut there.
        #expect(throws: PortalTrouble.wrongAnswer) { try answer(padded(to: PortalAnswer.limitBytes)) }
        let page = "https://a.example/" + String(repeating: "x", count: 1982)
        for (text, kept) in [(page, page), (page + "x", nil)] as [(String, String?)] {
            let found = try answer(#"{"captive": true, "user-portal-url": ""# + text + #""}"#)
            #expect(found.userPortalURL == kept)
        }
    }

    @Test func `numbers out of range and of other types are missing`() throws {
        let found = try answer(
            #"{"captive": false, "seconds-remaining": -1, "bytes-remaining": 1.5e300, "can-extend-session": "yes"}"#)
        #expect(found.secondsRemaining == nil)
        #expect(found.bytesRemaining == nil)
        #expect(found.canExtendSession == nil)
    }

    @Test(arguments: [
        (nil, 0), ("no-store", 0), ("max-age=0", 0), ("max-age=-5", 0), ("MAX-AGE = 30", 30), ("max-age=x", 0),
        ("max-age=99999999999999999999", 0), ("max-age=999999999", 600), ("private,max-age=5,foo", 5),
    ])
    func `the fresh time is bounded`(cache: String?, seconds: Int) throws {
        #expect(try answer(#"{"captive": false}"#, cache: cache).freshTime == .seconds(seconds))
    }

    @Test(arguments: [
        (EndpointFailure.certificate, PortalTrouble.certificate), (.certificateDate, .certificate),
        (.noAnswer, .noAnswer), (.refused, .noAnswer), (.nameNotResolved, .noAnswer), (.garbage, .wrongAnswer),
    ])
    func `each failure of a question has its trouble`(failure: EndpointFailure, trouble: PortalTrouble) {
        #expect(throws: trouble) { try PortalAnswer(.failure(failure)) }
    }

    @Test(arguments: [
        ("https://portal.example.net/api", nil), ("https://[2001:db8::1]:8443/x?y", nil),
        ("http://portal.example.net/api", PortalTrouble.notSecure), ("", .badURI), ("javascript:x", .badURI),
        ("https://a.example/\u{1b}[2J", .badURI), ("https://a.example/\0", .badURI), ("https://u@a.example/", .badURI),
        ("ftp://a.example/", .badURI), ("https://" + String(repeating: "a", count: 3000), .badURI),
    ])
    func `only https names an API`(text: String, trouble: PortalTrouble?) {
        switch PortalURI(text) {
        case .api(let endpoint): #expect(trouble == nil && endpoint.url == text)
        case .refused(let found): #expect(found == trouble)
        case .unrestricted: Issue.record("unrestricted")
        }
    }

    @Test func `the special URI means that there is no portal`() {
        #expect(PortalURI("urn:ietf:params:capport:unrestricted") == .unrestricted)
    }
}
