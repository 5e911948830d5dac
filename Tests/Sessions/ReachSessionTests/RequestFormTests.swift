import HTTPTypes
import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// Styles of queries, and compressed bodies.
@Suite(.timeLimit(.minutes(1))) struct RequestFormTests {
    private static func style(_ change: (inout QueryStyle) -> Void) -> QueryStyle {
        var style = QueryStyle()
        change(&style)
        return style
    }

    @Test(
        arguments: [
            (style { _ in }, "a%5B%5D=1&a%5B%5D=2&flag=1&none&some%5BuserName%5D=x%20%2B"),
            (style { $0.arrays = .plain }, "a=1&a=2&flag=1&none&some%5BuserName%5D=x%20%2B"),
            (style { $0.arrays = .indexed }, "a%5B0%5D=1&a%5B1%5D=2&flag=1&none&some%5BuserName%5D=x%20%2B"),
            (
                style { $0.arrays = .custom { "\($0)-\($1)" } },
                "a-0=1&a-1=2&flag=1&none&some%5BuserName%5D=x%20%2B"
            ),
            (style { $0.members = .dots }, "a%5B%5D=1&a%5B%5D=2&flag=1&none&some.userName=x%20%2B"),
            (style { $0.members = .custom { "\($0)_\($1)" } }, "a%5B%5D=1&a%5B%5D=2&flag=1&none&some_userName=x%20%2B"),
            (style { $0.booleans = .words }, "a%5B%5D=1&a%5B%5D=2&flag=true&none&some%5BuserName%5D=x%20%2B"),
            (style { $0.nulls = .empty }, "a%5B%5D=1&a%5B%5D=2&flag=1&none=&some%5BuserName%5D=x%20%2B"),
            (style { $0.nulls = .word }, "a%5B%5D=1&a%5B%5D=2&flag=1&none=null&some%5BuserName%5D=x%20%2B"),
            (style { $0.nulls = .dropped }, "a%5B%5D=1&a%5B%5D=2&flag=1&some%5BuserName%5D=x%20%2B"),
            (style { $0.spaces = .plus }, "a%5B%5D=1&a%5B%5D=2&flag=1&none&some%5BuserName%5D=x+%2B"),
            (style { $0.key = QueryStyle.snakeCase }, "a%5B%5D=1&a%5B%5D=2&flag=1&none&some%5Buser_name%5D=x%20%2B"),
        ] as [(QueryStyle, String)])
    func `a query has the style that its server expects`(style: QueryStyle, query: String) async throws {
        let parameters: [String: ParameterValue] = [
            "a": [1, 2], "flag": true, "none": nil, "some": ["userName": "x +"],
        ]
        #expect(style.text(of: parameters) == query)
        let stage = try SessionStage { options in
            var serializer = FormRequestSerializer()
            serializer.queryEncoder = style.encoder
            options.requestSerializer = serializer
        }
        let response = try await stage.session.get("q", parameters: .dictionary(parameters)).response()
        #expect(response.object?.json?["line"]?.string == "GET /v1/q?\(query) HTTP/1.1")
        try await stage.session.post("q", parameters: .dictionary(parameters)).response()
        #expect(stage.server.requests.values.last?.hasSuffix("\r\n\r\n\(query)") == true)
    }

    @Test func `bytes in a query are escaped, or Base64`() {
        let parameters: [String: ParameterValue] = ["d": .data([0xff, 0x20])]
        #expect(QueryStyle().text(of: parameters) == "d=%FF%20")
        #expect(Self.style { $0.bytes = .base64 }.text(of: parameters) == "d=/yA%3D")
    }

    @Test(arguments: [
        ("userName", "user_name"), ("URLPath", "url_path"), ("a", "a"), ("getURL", "get_url"),
        ("already_there", "already_there"),
        ("Big", "big"), ("x1Y2", "x1_y2"), ("", ""),
    ])
    func `keys in snake case`(key: String, result: String) { #expect(QueryStyle.snakeCase(key) == result) }

    @Test func `a style refuses parameters without names`() throws {
        var serializer = FormRequestSerializer()
        serializer.queryEncoder = QueryStyle().encoder
        #expect(throws: RequestSerializationError.notADictionary) {
            try serializer.request("GET", "http://127.0.0.1/", parameters: ["a"])
        }
    }

    @Test func `a body is compressed where it becomes shorter, and the server can expand it`() async throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "the same again ", count: 1000)
        var request = try WebRequest(
            method: "POST", url: WebAddress("http://127.0.0.1/"), body: .bytes(Array(text.utf8)))
        let isDeflated = [request.deflateBody(), request.deflateBody()]
        #expect(isDeflated == [true, false])
        #expect(request.headers[.contentEncoding] == "deflate" && (request.contentLength ?? 0) < 200)
        var bytes: [UInt8] = []
        if case .bytes(let body) = request.body { bytes = body }
        try directory.file("z", bytes.map(\.description).joined(separator: " "))
        let program =
            "import sys,zlib;print(zlib.decompress(bytes(int(n) for n in open(sys.argv[1]).read().split())).decode())"
        #expect(try ChildProcess.run(["python3", "-c", program, directory.path + "/z"]) == text + "\n")
        var short = try WebRequest(method: "POST", url: WebAddress("http://127.0.0.1/"), body: .bytes([1, 2]))
        let isShorter = short.deflateBody()
        #expect(!isShorter && short.contentLength == 2 && short.headers.isEmpty)
        var empty = try WebRequest(method: "GET", url: WebAddress("http://127.0.0.1/"))
        let hasBody = empty.deflateBody()
        #expect(!hasBody)
    }

    @Test func `a serializer compresses the bodies that it is asked for`() async throws {
        let stage = try SessionStage { options in
            options.requestSerializer = DeflatingRequestSerializer(
                JSONRequestSerializer(headers: [.init("X-Own")!: "1"])
            ) {
                $0.count > 100
            }
        }
        let long = ParameterValue.string(String(repeating: "a", count: 5000))
        try await stage.session.post("x", parameters: ["long": long]).response()
        try await stage.session.post("x", parameters: ["short": "a"]).response()
        let requests = stage.server.requests.values
        #expect(requests.map { $0.contains("Content-Encoding: deflate\r\n") } == [true, false])
        #expect(
            requests.allSatisfy { $0.contains("X-Own: 1\r\n") && $0.contains("Content-Type: application/json\r\n") })
        #expect(requests.last?.hasSuffix(#"{"short":"a"}"#) == true)
        try await stage.session.postForm("x", parameters: ["a": "b"]) { _ in }.response()
        #expect(stage.server.requests.values.last?.contains("Content-Encoding") == false)
    }
}
