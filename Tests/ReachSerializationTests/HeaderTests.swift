import ReachSerialization
import Testing

@Suite struct HeaderTests {
    @Test func `testThatValueForHTTPHeaderFieldReturnsSetValue`() throws {
        var headers = HTTPHeaders()
        try headers.set("Set-Header", "Actual Value")
        #expect(headers["Set-Header"] == "Actual Value")
        #expect(headers["set-header"] == "Actual Value")
    }

    @Test func `testThatValueForHTTPHeaderFieldReturnsNilForUnsetHeader`() {
        #expect(HTTPHeaders()["Unset-Header"] == nil)
    }

    @Test func `testThatHTTPHeaderValueCanBeRemoved`() throws {
        var headers = HTTPHeaders()
        try headers.set("TestHeader", "test")
        headers.remove("testheader")
        #expect(headers.fields.isEmpty)
    }

    @Test func `setting a field again replaces it in its place`() throws {
        var headers = HTTPHeaders(received: [("A", "1"), ("B", "2"), ("a", "3")])
        #expect(headers["A"] == "1, 3")
        try headers.set("A", "4")
        #expect(headers.fields.map(\.name) == ["A", "B"] && headers["a"] == "4")
    }

    @Test(arguments: [
        ("", "x", true), ("a b", "x", true), ("a:", "x", true), ("ä", "x", true), ("a", "x\r\nB: y", false),
        ("a", "x\0", false), ("a", "\u{7f}", false),
    ])
    func `names and values that could break the head are rejected`(name: String, value: String, isName: Bool) {
        var headers = HTTPHeaders()
        let error = #expect(throws: HTTPHeaderError.self) { try headers.set(name, value) }
        #expect(error?.isName == isName && headers.fields.isEmpty)
    }

    @Test(arguments: [
        ("username", "password", "Basic dXNlcm5hbWU6cGFzc3dvcmQ="), ("", "", "Basic Og=="),
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("ü", "£:", "Basic w7w6wqM6"),
    ])
    func `testAuthorizationHeaderWithValidUsernamePassword`(user: String, password: String, value: String) {
        var headers = HTTPHeaders()
        let isSet = headers.setBasicAuthorization(user: user, password: password)
        #expect(isSet && headers["Authorization"] == value)
    }

    @Test func `testThatClientClearsAuthorizationHeader`() {
        var headers = HTTPHeaders()
        headers.setBasicAuthorization(user: "username", password: "password")
        headers.clearAuthorization()
        #expect(headers["Authorization"] == nil)
    }

    @Test func `a user name with a colon is rejected`() {
        var headers = HTTPHeaders()
        let isSet = headers.setBasicAuthorization(user: "a:b", password: "c")
        #expect(!isSet && headers["Authorization"] == nil)
    }

    @Test func `the user agent names program, version and system in ASCII`() {
        let agent = DefaultHeaders.userAgent(program: "reach", version: "1.0", system: "Linux 6.1.0-18-amd64; x86_64")
        #expect(agent == "reach/1.0 (Linux 6.1.0-18-amd64; x86_64)")
        let odd = DefaultHeaders.userAgent(program: "größe\n日本", version: "2", system: DefaultHeaders.systemName)
        #expect(odd.hasPrefix("gre/2 (Linux ") && odd.hasSuffix(")"))
    }

    @Test(
        arguments: [
            ([:], nil), (["LANG": "C"], nil), (["LANG": "C.UTF-8"], nil), (["LANG": "POSIX"], nil), (["LANG": ""], nil),
            (["LANG": "de_AT.UTF-8"], "de-AT;q=1"), (["LANG": "de_AT@euro"], "de-AT;q=1"),
            (["LANG": "sr_RS@latin"], "sr-RS;q=1"),
            (["LANG": "de", "LC_MESSAGES": "fr_FR.UTF-8"], "fr-FR;q=1"),
            (["LANG": "de", "LC_MESSAGES": "fr", "LC_ALL": "it"], "it;q=1"), (["LANG": "de", "LC_ALL": "C"], nil),
            (["LANG": "de", "LC_ALL": ""], "de;q=1"), (["LANG": "C", "LANGUAGE": "de:fr"], nil),
            (["LANG": "de_AT.UTF-8", "LANGUAGE": "de:en_GB:en"], "de;q=1, en-GB;q=0.9, en;q=0.8, de-AT;q=0.7"),
            (["LANG": "de", "LANGUAGE": "de:de:C:en"], "de;q=1, en;q=0.9"), (["LANG": "a\r\nb"], nil),
            (["LANG": "h", "LANGUAGE": "a:b:c:d:e:f:g"], "a;q=1, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"),
        ] as [([String: String], String?)])
    func `the environment's languages get falling weights`(environment: [String: String], value: String?) {
        #expect(DefaultHeaders.acceptLanguage(environment: environment) == value)
    }

    @Test func `a serializer adds both headers unless the request has its own`() throws {
        let defaults = DefaultHeaders.headers(program: "p", version: "1", environment: ["LANG": "de_AT.UTF-8"])
        let request = try FormRequestSerializer(headers: defaults).request("GET", "http://example.com/")
        #expect(request.headers["Accept-Language"] == "de-AT;q=1")
        #expect(request.headers["User-Agent"] == "p/1 (\(DefaultHeaders.systemName))")
        #expect(
            DefaultHeaders.headers(program: "p", version: "1", environment: [:]).fields.map(\.name) == ["User-Agent"])
    }
}
