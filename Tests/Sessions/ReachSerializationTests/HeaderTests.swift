import HTTPTypes
import ReachSerialization
import Testing

@Suite struct HeaderTests {
    @Test func `testThatValueForHTTPHeaderFieldReturnsSetValue`() throws {
        var headers = HTTPFields()
        try headers.set("Set-Header", "Actual Value")
        #expect(headers["Set-Header"] == "Actual Value")
        #expect(headers["set-header"] == "Actual Value")
    }

    @Test func `testThatValueForHTTPHeaderFieldReturnsNilForUnsetHeader`() {
        #expect(HTTPFields()["Unset-Header"] == nil)
    }

    @Test func `testThatHTTPHeaderValueCanBeRemoved`() throws {
        var headers = HTTPFields()
        try headers.set("TestHeader", "test")
        headers[try #require(HTTPField.Name("testheader"))] = nil
        #expect(headers.isEmpty)
    }

    @Test func `setting a field again replaces it in its place`() throws {
        var headers = HTTPFields(received: [("A", "1"), ("B", "2"), ("a", "3")])
        #expect(headers["A"] == "1, 3")
        try headers.set("A", "4")
        #expect(headers.map(\.name.rawName) == ["A", "B"] && headers["a"] == "4")
    }

    @Test(arguments: [
        ("", "x", true), ("a b", "x", true), ("a:", "x", true), ("ä", "x", true), ("a", "x\r\nB: y", false),
        ("a", "x\0", false), ("a", "\u{7f}", false), ("a", "x\n", false), ("a", "\u{1}x", false), (":path", "/", true),
    ])
    func `names and values that could break the head are rejected`(name: String, value: String, isName: Bool) {
        var headers = HTTPFields()
        let error = #expect(throws: HTTPHeaderError.self) { try headers.set(name, value) }
        #expect(error?.isName == isName && error?.name == name && headers.isEmpty)
        let same = #expect(throws: HTTPHeaderError.self) { try HTTPFields([name: value, "Good": "1"]) }
        #expect(same == error)
    }

    @Test func `fields of a dictionary are in the order of their names`() throws {
        let headers = try HTTPFields(["X-B": "2", "X-A": " 1 ", "X-C": ""])
        #expect(headers.map(\.description) == ["X-A: 1", "X-B: 2", "X-C: "])
    }

    @Test func `fields replace those of the same names, in their places`() throws {
        var headers = HTTPFields(received: [("A", "1"), ("B", "2"), ("a", "3"), ("C", "4")])
        headers.replace(with: HTTPFields(received: [("D", "5"), ("a", "6"), ("c", "7"), ("C", "8")]))
        #expect(headers.map(\.description) == ["a: 6", "B: 2", "c: 7", "D: 5", "C: 8"])
    }

    @Test func `default fields are added where a name is not set, all of the same name`() {
        var headers = HTTPFields(received: [("a", "1")])
        headers.complete(from: HTTPFields(received: [("A", "2"), ("B", "3"), ("b", "4")]))
        #expect(headers.map(\.description) == ["a: 1", "B: 3", "b: 4"])
    }

    @Test func `received fields keep their order, their duplicates and their bytes`() {
        let headers = HTTPFields(received: [
            ("Set-Cookie", "a=1"), ("x", "\u{1}caf\u{e9}\u{7f}"), ("set-cookie", "b=2"), ("no name", "x"), ("", "y"),
            ("Y", "a\tb"),
        ])
        #expect(headers.map(\.name.rawName) == ["Set-Cookie", "x", "set-cookie", "Y"])
        #expect(headers[values: .setCookie] == ["a=1", "b=2"])
        #expect(headers["x"] == "\u{1}caf\u{e9}\u{7f}" && headers["y"] == "a\tb" && headers["no name"] == nil)
    }

    @Test func `a server cannot send too many fields for the list`() {
        let headers = HTTPFields(received: repeatElement(("a", ""), count: 70_000))
        #expect(headers.count == 65_534)
    }

    @Test func `cookies are sent in one field, and a value that is no UTF-8 is an error`() throws {
        var headers: HTTPFields = [.accept: "*/*", .userAgent: "x"]
        headers[.cookie] = "a=1; b=2"
        headers.append(HTTPField(name: .range, value: "bytes=0-"))
        headers.append(HTTPField(name: .cookie, value: "c=3"))
        let written = try headers.written().map { "\($0.name): \($0.value)" }
        #expect(written == ["Accept: */*", "User-Agent: x", "Cookie: a=1; b=2; c=3", "Range: bytes=0-"])
        headers.append(HTTPField(name: .from, value: [0x63, 0xe9] as [UInt8]))
        let error = #expect(throws: HTTPHeaderError.self) { try headers.written() }
        #expect(error?.name == "From" && error?.description.contains("'From'") == true)
    }

    @Test(arguments: [
        ("username", "password", "Basic dXNlcm5hbWU6cGFzc3dvcmQ="), ("", "", "Basic Og=="),
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("ü", "£:", "Basic w7w6wqM6"),
    ])
    func `testAuthorizationHeaderWithValidUsernamePassword`(user: String, password: String, value: String) {
        var headers = HTTPFields()
        let isSet = headers.setBasicAuthorization(user: user, password: password)
        #expect(isSet && headers[.authorization] == value)
    }

    @Test func `testThatClientClearsAuthorizationHeader`() {
        var headers = HTTPFields()
        headers.setBasicAuthorization(user: "username", password: "password")
        headers.clearAuthorization()
        #expect(headers[.authorization] == nil)
    }

    @Test func `a user name with a colon is rejected`() {
        var headers = HTTPFields()
        let isSet = headers.setBasicAuthorization(user: "a:b", password: "c")
        #expect(!isSet && headers[.authorization] == nil)
    }

    @Test func `the user agent names program, version and system in ASCII`() {
        let agent = DefaultHeaders.userAgent(program: "reach", version: "1.0", system: "Linux 6.1.0-18-amd64; x86_64")
        #expect(agent == "reach/1.0 (Linux 6.1.0-18-amd64; x86_64)")
        let odd = DefaultHeaders.userAgent(program: "größe\n日本", version: "2", system: DefaultHeaders.systemName)
        #expect(odd.hasPrefix("gr%C3%B6%C3%9Fe%0A%E6%97%A5%E6%9C%AC/2 (Linux ") && odd.hasSuffix(")"))
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
        #expect(request.headers[.acceptLanguage] == "de-AT;q=1")
        #expect(request.headers[.userAgent] == "p/1 (\(DefaultHeaders.systemName))")
        #expect(
            DefaultHeaders.headers(program: "p", version: "1", environment: [:]).map(\.name) == [.userAgent])
    }
}
