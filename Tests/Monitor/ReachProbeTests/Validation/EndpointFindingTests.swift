import ReachCore
import ReachProbe
import Testing

/// An endpoint, its answer and the expected finding in one line.
struct Answered: Sendable, CustomTestStringConvertible {
    let url: String
    let expectation: ConnectivityEndpoint.Expectation
    let answer: EndpointAnswer
    let finding: EndpointFinding

    init(
        _ finding: EndpointFinding, _ status: Int, _ headers: [(String, String)] = [], body: String = "",
        expecting expectation: ConnectivityEndpoint.Expectation = .noContent, from url: String = Answered.plain
    ) {
        let response = EndpointResponse(
            status: status, headers: headers.map { HeaderField($0.0, $0.1) }, body: Array(body.utf8))
        self.init(finding, .response(response), expecting: expectation, from: url)
    }

    init(
        _ finding: EndpointFinding, _ answer: EndpointAnswer,
        expecting expectation: ConnectivityEndpoint.Expectation = .noContent, from url: String = Answered.plain
    ) {
        self.url = url
        self.expectation = expectation
        self.answer = answer
        self.finding = finding
    }

    static let plain = "http://check.example.net/generate_204"
    static let secure = "https://check.example.net/generate_204"

    var testDescription: String { "\(answer) from \(url) is \(finding)" }
}

@Suite struct EndpointFindingTests {
    private static let page = String(repeating: "<p>Please pay.</p>", count: 10)
    /// A page's URL of as many bytes as are kept.
    private static let longest = "http://login.example/" + String(repeating: "a", count: 1979)
    private static let online = ConnectivityEndpoint.Expectation.header(
        name: "X-NetworkManager-Status", value: "online")
    private static let any = ConnectivityEndpoint.Expectation.header(name: "X-Check", value: nil)
    private static let text = ConnectivityEndpoint.Expectation.body(prefix: Array("NetworkManager is".utf8))

    private func check(_ answered: Answered) throws {
        let endpoint = try #require(ConnectivityEndpoint(answered.url, expectation: answered.expectation))
        #expect(EndpointFinding(answered.answer, from: endpoint) == answered.finding)
    }

    @Test(arguments: [
        Answered(.proof, 204),
        Answered(.proof, 200, [("x-networkmanager-status", "online")], body: page, expecting: online),
        Answered(.proof, 200, [("X-Check", "")], expecting: any),
        Answered(.proof, 200, body: "NetworkManager is online\n", expecting: text),
        Answered(.proof, 204, from: Answered.secure),
    ])
    func `the expected answer is proof`(answered: Answered) throws { try check(answered) }

    @Test(arguments: [
        Answered(.portal(url: Answered.plain), 200, body: page),
        Answered(.portal(url: Answered.plain), 200, body: page, expecting: text),
        Answered(.portal(url: Answered.plain), 200, body: "ok.\r\n"),
        Answered(
            .portal(url: Answered.plain), 200, [("X-NetworkManager-Status", "off")], body: page, expecting: online),
        Answered(.portal(url: Answered.plain), 511),
        Answered(.portal(url: "http://login.example/?a"), 302, [("Location", "http://login.example/?a")]),
        Answered(.portal(url: "https://login.example/"), 307, [("location", "https://login.example/")]),
        Answered(.portal(url: "http://login.example/x"), 302, [("Location", "//login.example/x")]),
        Answered(.portal(url: "http://check.example.net/login?b"), 302, [("Location", "/login?b")]),
        Answered(
            .portal(url: "http://check.example.net/a/login"), 302, [("Location", "login")],
            from: "http://check.example.net/a/b?c"),
        Answered(
            .portal(url: "http://check.example.net:8080/login"), 302, [("Location", "login")],
            from: "http://check.example.net:8080?c"),
        // An invalid URL is not passed on.
        Answered(.portal(url: Answered.plain), 302),
        Answered(.portal(url: Answered.plain), 302, [("Location", "javascript:alert(1)")]),
        Answered(.portal(url: Answered.plain), 302, [("Location", "http://login.example:99999/")]),
        Answered(.portal(url: Answered.plain), 302, [("Location", "http://bank.example@login.example/")]),
        Answered(
            .portal(url: "http://login.example/%22%3E?a=%7C"), 302, [("Location", "http://login.example/\">?a=|")]),
        Answered(.portal(url: Answered.plain), 302, [("Location", "http://x/\u{1b}[2J")]),
        Answered(.portal(url: Answered.plain), 302, [("Location", "")]),
        Answered(.portal(url: longest), 302, [("Location", longest)]),
        Answered(.portal(url: Answered.plain), 302, [("Location", longest + "a")]),
        Answered(.portal(url: Answered.plain), 302, [("Location", String(repeating: "a", count: 2001))]),
    ])
    func `another host's answer is a portal, with its page`(answered: Answered) throws { try check(answered) }

    @Test(arguments: [
        Answered(.failure(.wrongAnswer), 200),
        Answered(.failure(.wrongAnswer), 200, body: "ok\r\n"),
        Answered(.failure(.wrongAnswer), 403, body: page),
        Answered(.failure(.wrongAnswer), 404),
        Answered(.failure(.wrongAnswer), 503, body: page),
        Answered(.failure(.wrongAnswer), 204, expecting: online),
        // What is expected counts in a page, and not in an error.
        Answered(.failure(.wrongAnswer), 404, [("X-NetworkManager-Status", "online")], expecting: online),
        Answered(.failure(.wrongAnswer), 404, [("X-Check", "")], expecting: any),
        Answered(.failure(.wrongAnswer), 404, body: "NetworkManager is online\n", expecting: text),
        // A server that redirects all requests to HTTPS.
        Answered(.failure(.wrongAnswer), 301, [("Location", Answered.secure)]),
        Answered(.failure(.wrongAnswer), 301, [("Location", "https://CHECK.example.net/")]),
    ])
    func `an empty page and an error are neither proof nor a portal`(answered: Answered) throws { try check(answered) }

    @Test(arguments: [
        Answered(.failure(.wrongAnswer), 200, body: page, from: Answered.secure),
        Answered(.failure(.wrongAnswer), 302, [("Location", "http://login.example/")], from: Answered.secure),
        Answered(.failure(.wrongAnswer), 511, from: Answered.secure),
    ])
    func `an answer with a valid certificate is no portal`(answered: Answered) throws { try check(answered) }

    @Test(arguments: ["10.0.0.1", "100.64.3.1", "169.254.7.7", "192.0.2.1", "fd00::1"])
    func `a private address for the name is a portal's, which gives it to all names`(text: String) throws {
        let address = try #require(IPAddress(text))
        let page = text.contains(":") ? "http://[\(text)]/" : "http://\(text)/"
        try check(Answered(.portal(url: Answered.plain), .privateAddress(address)))
        try check(Answered(.portal(url: page), .privateAddress(address), from: Answered.secure))
    }

    @Test(arguments: ["0.0.0.0", "127.0.0.1", "::", "::1", "240.0.0.1"])
    func `an address of no host is a filter's answer, and no portal`(text: String) throws {
        try check(Answered(.failure(.privateAddress), .privateAddress(try #require(IPAddress(text)))))
    }

    // A refused connection does not prove the Internet, since routers refuse in other hosts' place.
    @Test(arguments: [
        (EndpointFailure.local, EndpointFinding.inconclusive),
        (.nameNotResolved, .failure(.nameNotResolved)), (.notConnected, .failure(.noAnswer)),
        (.refused, .failure(.noAnswer)), (.noAnswer, .failure(.noAnswer)), (.garbage, .failure(.wrongAnswer)),
        (.certificateDate, .inconclusive), (.certificate, .failure(.certificate)),
    ])
    func `each failure has its finding`(failure: EndpointFailure, finding: EndpointFinding) throws {
        try check(Answered(finding, .failure(failure), from: Answered.secure))
    }
}
