import ReachCore
import ReachSession
import ReachTesting
import Testing

/// What AFHTTPSessionManager's users know.
@Suite(.timeLimit(.minutes(1))) struct RequestTests {
    @Test func `a request's completion is called with the object, and its state is completed`() async throws {
        let stage = try SessionStage()
        let log = EventLog<String>()
        let task = try stage.session.get("get") { result in
            log.append((try? result.get())?.object?.json?["line"]?.string ?? "\(result)")
        }
        #expect(task.requestState == .suspended && task.requestState.sessionTaskState == 1)
        task.resume()
        #expect(try await log.wait(for: 1) == ["GET /v1/get HTTP/1.1"])
        #expect(task.requestState == .completed && task.requestState.sessionTaskState == 3)
        #expect(try task.result?.get().statusCode == 200)
    }

    @Test func `awaiting a task resumes it`() async throws {
        let stage = try SessionStage()
        let value = try await stage.session.get("get").value()
        #expect(value?.json?["line"]?.string == "GET /v1/get HTTP/1.1")
    }

    @Test(arguments: [
        ("foo", "/v1/foo"), ("/foo", "/foo"), ("?a=b", "/v1/?a=b"), ("/v2/", "/v2/"), ("", "/v1/"),
    ])
    func `references are joined to the base URL as AFHTTPSessionManager joins them`(
        reference: String, path: String
    ) async throws {
        let stage = try SessionStage()
        let value = try await stage.session.get(reference).value()
        #expect(value?.json?["line"]?.string == "GET \(path) HTTP/1.1")
    }

    @Test(arguments: [
        ("a b", "/v1/a%20b"), ("/a b?c d", "/a%20b?c%20d"), ("[1]|{x}", "/v1/%5B1%5D%7C%7Bx%7D"),
        ("gr\u{fc}n", "/v1/gr%C3%BCn"), ("a%20b", "/v1/a%20b"),
    ])
    func `what browsers escape in a URL is requested escaped`(reference: String, path: String) async throws {
        let stage = try SessionStage()
        try await stage.session.get(reference).response()
        #expect(stage.server.requests.values.map { $0.hasPrefix("GET \(path) HTTP/1.1\r\n") } == [true])
    }

    @Test func `each method puts parameters where its serializer does`() async throws {
        let stage = try SessionStage()
        let (session, parameters) = (stage.session, ["a": ["b": 1], "c": "d e"] as ParameterValue)
        let query = "?a%5Bb%5D=1&c=d%20e"
        for (method, task) in [
            ("GET", try session.get("x", parameters: parameters)),
            ("HEAD", try session.head("x", parameters: parameters)),
            ("DELETE", try session.delete("x", parameters: parameters)),
        ] {
            try await task.response()
            #expect(stage.server.requests.values.last?.hasPrefix("\(method) /v1/x\(query) HTTP/1.1\r\n") == true)
        }
        for (method, task) in [
            ("POST", try session.post("x", parameters: parameters)),
            ("PUT", try session.put("x", parameters: parameters)),
            ("PATCH", try session.patch("x", parameters: parameters)),
        ] {
            try await task.response()
            let request = try #require(stage.server.requests.values.last)
            #expect(request.hasPrefix("\(method) /v1/x HTTP/1.1\r\n") && request.hasSuffix(query.dropFirst()))
            #expect(request.contains("Content-Type: application/x-www-form-urlencoded\r\n"))
        }
    }

    @Test func `a session's reachability is that of its base URL's host, or of the Internet`() throws {
        #expect(
            try RequestSession(baseURL: "https://example.org/v1").reachability.target.subject == .name("example.org"))
        #expect(try RequestSession(baseURL: "http://[::1]:80/").reachability.target.subject == Target("::1").subject)
        #expect(try RequestSession().reachability.target == .internet)
    }

    @Test func `headers of a request take the place of the serializer's`() async throws {
        let stage = try SessionStage {
            var serializer = FormRequestSerializer()
            try? serializer.headers.set("X-Foo", "foo value")
            try? serializer.headers.set("X-Bar", "bar value")
            $0.requestSerializer = serializer
        }
        let task = try stage.session.get("get", headers: ["X-Foo": "request value"])
        try await task.response()
        #expect(task.originalRequest.headers["X-Foo"] == "request value")
        let sent = try #require(stage.server.requests.values.first)
        #expect(sent.contains("X-Foo: request value\r\n") && sent.contains("X-Bar: bar value\r\n"))
        #expect(!sent.contains("foo value"))
    }

    @Test func `headers are given by checked names or by text, and cookies are sent in one field`() async throws {
        let stage = try SessionStage()
        let name = "X-Own"
        var cookies: Headers = [.accept: "text/plain", "X-More": "1"]
        cookies[.cookie] = "a=1; b=2"
        let cases: [(RequestTask, String)] = [
            (try stage.session.get("a", headers: [.accept: "text/plain", .range: "bytes=0-"]), "Range: bytes=0-"),
            (try stage.session.get("a", headers: ["X-Text": "1"]), "X-Text: 1"),
            (try stage.session.get("a", headers: [Headers.Name(name): name]), "X-Own: X-Own"),
            (try stage.session.get("a", headers: [:]), "Host: 127.0.0.1:"),
            (try stage.session.post("a", headers: cookies), "Cookie: a=1; b=2"),
            (try stage.session.upload([1], to: "a", headers: [.ifMatch: "*"]), "If-Match: *"),
            (try stage.session.get("a", headers: ["Host": "example.org"]), "Host: example.org"),
        ]
        for (task, line) in cases {
            try await task.response()
            let sent = try #require(stage.server.requests.values.last)
            #expect(sent.contains("\r\n" + line))
            #expect(sent.split(separator: "Cookie:").count <= 2)
        }
    }

    @Test func `a request of HTTPTypes is sent as it is`() async throws {
        let stage = try SessionStage()
        let request = HTTPRequest(
            method: try #require(HTTPRequest.Method("PROPFIND")), scheme: "http",
            authority: "127.0.0.1:\(stage.server.port)", path: "/a?b=c", headerFields: [.contentType: "text/plain"])
        let task = try stage.session.task(for: request, body: .bytes(Array("hello".utf8)))
        try await task.response()
        let sent = try #require(stage.server.requests.values.last)
        #expect(sent.hasPrefix("PROPFIND /a?b=c HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\nhello"))
        #expect(sent.contains("Content-Type: text/plain\r\n") && sent.contains("Content-Length: 5\r\n"))
        #expect(task.originalRequest.head == request)
    }

    @Test func `a response keeps the order of its header fields, their duplicates and their bytes`() async throws {
        let stage = try SessionStage { _ in
        } answer: { _ in
            "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nX-Name: caf\u{e9}\r\nset-cookie: b=2\r\nX-Folded: one\r\n two: 2\r\n"
                + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        }
        let head = try await stage.session.get("").response().head
        #expect(head.status == .ok && head.mediaType == "application/json")
        #expect(
            head.headerFields.prefix(4).map(\.description) == [
                "Set-Cookie: a=1", "X-Name: caf\u{e9}", "set-cookie: b=2", "X-Folded: one two: 2",
            ])
        #expect(head.headerFields[values: .setCookie] == ["a=1", "b=2"])
    }

    @Test func `the program's name is sent to servers`() async throws {
        let stage = try SessionStage()
        try await stage.session.get("").response()
        #expect(stage.server.requests.values.first?.contains("\r\nUser-Agent: stage/1.2 (Linux ") == true)
    }

    @Test func `a POST is given a key by which repetitions can be told`() async throws {
        let stage = try SessionStage()
        var options = RequestOptions()
        try await stage.session.post("a", options: options).response()
        options.idempotencyKey = "mine"
        try await stage.session.post("b", options: options).response()
        try await stage.session.get("c").response()
        let keys = stage.server.requests.values.map { request in
            request.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }?.dropFirst(17)
        }
        #expect(keys.count == 3 && keys[0]?.utf8.count == 36 && keys[1] == "mine" && keys[2] == nil)
    }

    // MARK: - Answers

    @Test func `a status that is not accepted is an error, which carries what the server said`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(#"{"why":"no"}"#, status: "422 Unprocessable") }
        )
        let result = try await stage.session.get("").awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.summary == "response bad-status")
        #expect(error.response?.statusCode == 422 && error.response?.object?.json?["why"]?.string == "no")
        #expect(error.responseError?.fault == .unacceptableStatus(422))
        #expect(error.description == "the server answered Unprocessable Content (422)")
    }

    @Test(arguments: [
        ("{", "application/json", "response undecodable"), ("{}", "text/html", "response bad-content-type"),
    ])
    func `what the serializer cannot take is an error`(body: String, type: String, summary: String) async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(body, type: type) })
        #expect(await failure { try await stage.session.get("").response() } == summary)
    }

    @Test func `a server's own trouble is told at once in memory, and retried where it is asked for`() async throws {
        let tries = EventLog<Int>()
        let stage = try SessionStage(answer: { _ in
            tries.append(0)
            return tries.values.count % 2 == 1
                ? SessionStage.answer("{}", status: "503 Busy") : SessionStage.answer("{}")
        })
        #expect(await failure { try await stage.session.get("").response() } == "response bad-status")
        #expect(tries.values.count == 1)
        tries.append(0)
        var options = RequestOptions()
        options.retries = .attempts(3)
        #expect(try await stage.session.get("", options: options).response().statusCode == 200)
        #expect(tries.values.count == 4)
    }

    @Test func `a refused connection is told with its reason`() async throws {
        let session = try RequestSession()
        let port = try TestProgram.freePort()
        #expect(
            await failure { try await session.get("http://127.0.0.1:\(port)/").response() }
                == "destination connection-refused")
    }

    // MARK: - What cannot be sent

    @Test func `what is wrong is thrown before anything is sent`() async throws {
        let stage = try SessionStage { $0.maximumBytes = 100 }
        let session = stage.session
        let cases: [(String, () throws -> RequestTask)] = [
            ("request bad-url", { try session.get("a\tb") }),
            ("request bad-url", { try session.get("http://a b/") }),
            ("request bad-url", { try session.get("ftp://example.org/") }),
            ("request bad-url", { try session.get("http://us%3aer:secret@example.org/") }),
            ("request parameters-without-names", { try session.get("", parameters: [1, 2]) }),
            ("request bad-header", { try session.get("", headers: ["a b": "c"]) }),
            ("request bad-header", { try session.get("", headers: ["content-length": "3"]) }),
            ("request bad-header", { try session.post("", parameters: ["a": "b"], headers: ["Content-Length": "3"]) }),
            ("request bad-header", { try session.get("", headers: ["Transfer-Encoding": "chunked"]) }),
            ("request bad-header", { try session.get("", headers: ["a": "b\r\nc: d"]) }),
            ("request bad-header", { try session.get("", headers: [.contentLength: "3"]) }),
            ("request bad-header", { try session.upload([1], to: "", headers: [.transferEncoding: "chunked"]) }),
            (
                "request bad-header",
                {
                    let odd = HTTPField(name: .accept, lenientValue: [UInt8(ascii: "a"), 1])
                    return try session.get("", headers: Headers(HTTPFields([odd])))
                }
            ),
            ("request bad-when", { try session.get("", when: RequestConstraint("wify")) }),
            ("request bad-constraint", { try session.get("", when: RequestConstraint("validated")) }),
            ("local unreadable-file", { try session.upload(file: "/nonexistent", to: "") }),
            ("local unreadable-file", { try session.upload(file: "/tmp", to: "") }),
            ("request bad-path", { try session.download("", to: "") }),
            ("request bad-body", { try session.upload([UInt8](repeating: 0, count: 101), to: "") }),
            (
                "request bad-expires",
                {
                    var options = RequestOptions()
                    options.expiresAfter = .zero
                    return try session.get("", options: options)
                }
            ),
            (
                "request bad-max-attempts",
                {
                    var options = RequestOptions()
                    options.retries = .attempts(0)
                    return try session.get("", options: options)
                }
            ),
        ]
        for (index, (summary, make)) in cases.enumerated() {
            #expect(await failure { _ = try make() } == summary, "case \(index)")
        }
        #expect(stage.server.requests.values.isEmpty)
    }

    @Test(arguments: ["", "example.org", "ftp://example.org"])
    func `a base URL that cannot be used is refused`(text: String) async {
        #expect(await failure { _ = try RequestSession(baseURL: text) } == "request bad-url")
    }
}
