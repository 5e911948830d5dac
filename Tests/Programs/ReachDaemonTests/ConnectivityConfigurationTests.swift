import ReachProbe
import ReachTOML
import Testing

@testable import ReachDaemon

@Suite struct ConnectivityConfigurationTests {
    private func parse(_ lines: String) throws(ConfigurationError) -> Configuration.Connectivity {
        try Configuration.parse(Array(("[connectivity]\n" + lines).utf8), file: "reach.toml").connectivity
    }

    private func errors(in lines: String) -> [String] {
        Configuration.errors(in: "[connectivity]\n" + lines)
    }

    @Test func `without endpoints nothing is validated`() throws {
        let nothing = try Configuration.parse([], file: "reach.toml").connectivity
        #expect(nothing.endpoints.isEmpty)
        #expect(try parse("endpoints = []") == nothing)
    }

    @Test func `endpoints are URLs, or tables with the expected answer`() throws {
        let endpoints = try parse(
            """
            endpoints = [
                "https://check.example.net/204",
                { url = "http://a.example.net/" },
                { url = "http://b.example.net/", header = "X-Status:  online " },
                { header = "X-Status", url = "http://c.example.net/" },
                { url = "http://d.example.net/", body = "it works" },
            ]
            """
        ).endpoints
        #expect(endpoints.map(\.host) == ["check", "a", "b", "c", "d"].map { $0 + ".example.net" })
        #expect(
            endpoints.map(\.expectation) == [
                .noContent, .noContent, .header(name: "X-Status", value: "online"),
                .header(name: "X-Status", value: nil), .body(prefix: Array("it works".utf8)),
            ])
        #expect(endpoints.map(\.isSecure) == [true, false, false, false, false])
    }

    @Test func `silence is looked for unless the configuration forbids it`() throws {
        func options(_ line: String) throws -> Validator.Options? {
            let text = "[connectivity]\nendpoints = [\"http://check.example.net/\"]\n" + line
            return try Configuration.parse(Array(text.utf8), file: "reach.toml").validatorOptions
        }
        #expect(try options("")?.detectsSilence == true)
        #expect(try options("detect_silence = false")?.detectsSilence == false)
    }

    @Test func `the APIs of portals are asked unless the configuration forbids it`() throws {
        #expect(try parse("interval = \"1h\"").portalAPI)
        #expect(try !parse("portal_api = false").portalAPI)
    }

    @Test func `intervals and thresholds are applied`() throws {
        let read = try parse(
            "interval = \"1h\"\ntimeout = \"2s\"\ndemote_after = 5\npromote_after = 2\nmetered_bytes_per_day = 0")
        #expect(read.interval == .seconds(3600))
        #expect(read.timeout == .seconds(2))
        #expect((read.demoteAfter, read.promoteAfter, read.meteredBytesPerDay) == (5, 2, 0))
    }

    @Test(arguments: [
        ("endpoints = \"http://a.example/\"", 2, "it is a text"),
        ("endpoints = [1]", 2, "it is a whole number"),
        ("endpoints = [\n  \"http://a.example/\",\n  \"ftp://a.example/\",\n]", 4, "not an absolute http or https URL"),
        ("endpoints = [\"a.example\"]", 2, "not an absolute http or https URL"),
        ("endpoints = [\"http://user:word@a.example/\"]", 2, "not an absolute http or https URL"),
        ("endpoints = [{ header = \"A: b\" }]", 2, "it has no url"),
        ("endpoints = [{ url = \"http://a.example/\", status = 200 }]", 2, "it has a key status"),
        ("endpoints = [{ url = \"http://a.example/\", body = \"a\", header = \"B\" }]", 2, "both a header and a body"),
        ("endpoints = [{ url = \"http://a.example/\", body = \"\" }]", 2, "its body has 0 bytes"),
        ("endpoints = [{ url = \"http://a.example/\", body = 1 }]", 2, "its body is not a text"),
        ("endpoints = [{ url = \"http://a.example/\", header = \": b\" }]", 2, "cannot be a header"),
        ("endpoints = [{ url = \"http://a.example/\", header = \"A:\" }]", 2, "cannot be a header"),
        ("interval = \"9s\"", 2, "it is \"9s\""), ("timeout = \"0s\"", 2, "it is \"0s\""),
        ("interval = \"20s\"\ntimeout = \"30s\"", 3, "longer than interval"),
        ("demote_after = 0", 2, "it is 0"), ("promote_after = 11", 2, "it is 11"),
        ("metered_bytes_per_day = -1", 2, "it is -1"),
    ])
    func `an error has its line`(lines: String, line: Int, problem: String) throws {
        let found = errors(in: lines)
        #expect(found.count == 1)
        let first = try #require(found.first)
        #expect(first.hasPrefix("reach.toml:\(line): connectivity."))
        #expect(first.contains(problem))
    }

    @Test(arguments: [
        ("http://a.example/", "\"http://a.example/\""), ("http://a.example/", "\"HTTP://A.example:80\""),
        ("http://a.example/", "\"http://a.example./\""), ("http://a.example/x?y", "\"http://a.example/x?y#z\""),
        ("http://a.example/", "{ url = \"http://a.example/\", body = \"it works\" }"),
        ("https://[2001:db8::1]/", "\"https://[2001:db8::1]:443/\""),
    ])
    func `an endpoint that is listed twice is an error with its line`(first: String, second: String) {
        let errors = self.errors(in: "endpoints = [\n  \"\(first)\",\n  \"http://b.example/\",\n  \(second),\n]")
        #expect(errors.count == 1)
        #expect(errors.first?.hasPrefix("reach.toml:5: connectivity.endpoints: ") == true, "\(errors)")
        #expect(errors.first?.contains("is listed twice") == true, "\(errors)")
    }

    @Test func `pages that differ are endpoints of their own`() throws {
        let endpoints = try parse(
            """
            endpoints = ["http://a.example/", "https://a.example/", "http://a.example:8080/", "http://a.example/A",
                "http://a.example/a", "http://a.example/?a", "http://b.example/"]
            """
        ).endpoints
        #expect(endpoints.count == 7)
    }

    @Test func `at most eight endpoints are allowed`() {
        func list(_ count: Int) -> String { (0..<count).map { "\"http://a.example/\($0)\"," }.joined() }
        #expect(errors(in: "endpoints = [\(list(8))]").isEmpty)
        #expect(errors(in: "endpoints = [\(list(9))]").count == 1)
    }
}
