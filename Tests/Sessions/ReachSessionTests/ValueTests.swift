import Foundation
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Calls as a program writes them: variables as parameters, Codable, Foundation's values.
@Suite(.timeLimit(.minutes(1))) struct ValueTests {
    private struct User: Codable, Sendable, Equatable {
        var id: Int
        var name: String
        var born: Date?
    }

    /// Not Sendable, as a program's own classes mostly are.
    private final class Account: Decodable {
        var name = ""
    }

    /// A server that answers with the request's body, or with its target as JSON text.
    private func stage(_ change: (inout RequestSessionOptions) -> Void = { _ in }) throws -> SessionStage {
        try SessionStage(change) { request in
            let body = request.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false).last ?? ""
            let target = request.split(separator: " ").dropFirst().first ?? ""
            return SessionStage.answer(body.isEmpty ? "\"\(target)\"" : String(body))
        }
    }

    @Test func `parameters are variables of any type`() async throws {
        let stage = try stage()
        let (page, name, tags, isNew, size) = (3, "a b", ["x", "y"], true, 1.5)
        let (none, big, when): (String?, UInt64, Date) = (nil, .max, Date(timeIntervalSinceReferenceDate: 0))
        let session = stage.session
        func target(_ task: RequestTask) async throws -> String { try await task.json().string ?? "" }
        #expect(
            try await target(session.get("s", parameters: ["page": page, "name": name, "tags": tags]))
                == "/v1/s?name=a%20b&page=3&tags%5B%5D=x&tags%5B%5D=y")
        #expect(
            try await target(session.get("s", parameters: ["new": isNew, "size": size, "none": none, "big": big]))
                == "/v1/s?big=18446744073709551615&new=1&size=1.5")
        #expect(
            try await target(
                session.delete("s", parameters: ["at": when, "raw": Data([65]), "user": User(id: 1, name: "n")]))
                == "/v1/s?at=2001-01-01T00%3A00%3A00Z&raw=A&user%5Bid%5D=1&user%5Bname%5D=n")
        let user: [String: Any] = ["id": page, "name": name]
        #expect(
            try await target(
                session.get("s", parameters: ["page": page, "user": ParameterValue(of: user)]))
                == "/v1/s?page=3&user%5Bid%5D=3&user%5Bname%5D=a%20b")
        let untyped: [String: Any] = ["page": page, "list": [1, "x"] as [Any]]
        #expect(
            try await target(session.get("s", parameters: ParameterValue(of: untyped)))
                == "/v1/s?list%5B%5D=1&list%5B%5D=x&page=3")
        let typed = ["a": 1, "b": 2]
        #expect(try await target(session.get("s", parameters: typed)) == "/v1/s?a=1&b=2")
        #expect(
            try await target(session.get("s", parameters: ["a": nil, "b": [1, "x"]])) == "/v1/s?a&b%5B%5D=1&b%5B%5D=x")
        #expect(try await target(session.get("s", parameters: ["p": page, "n": ParameterValue.null])) == "/v1/s?n&p=3")
        let given: ParameterValue = ["a": 1]
        #expect(try await target(session.get("s", parameters: given)) == "/v1/s?a=1")
        #expect(try await target(session.get("s", parameters: nil)) == "/v1/s")
    }

    @Test func `headers are given together with variables, by names and by text`() async throws {
        let stage = try stage()
        let (page, tenant) = (3, "t")
        let untyped: [String: Any] = ["page": page]
        let tasks = [
            try stage.session.get("x", parameters: ["page": page], headers: [.accept: "text/plain"]),
            try stage.session.get("x", parameters: ["page": page], headers: ["accept": "text/plain"]),
            try stage.session.get("x", parameters: ParameterValue(of: untyped), headers: [.accept: "text/plain"]),
            try stage.session.post("x", body: [page], headers: [.accept: "text/plain"]),
            try stage.session.post("x", body: Data("[1]".utf8), headers: ["accept": "text/plain"]),
        ]
        for task in tasks { _ = try await task.data() }
        for request in stage.server.requests.values {
            #expect(request.lowercased().contains("\r\naccept: text/plain\r\n"), "\(request)")
        }
        #expect(stage.server.requests.values.count == tasks.count)
        let error = #expect(throws: RequestError.self) {
            try stage.session.get("x", parameters: ["page": page], headers: ["a b": tenant])
        }
        #expect(error?.summary == "request bad-header")
    }

    @Test func `a parameter that cannot be encoded is named before anything is sent`() async throws {
        final class Thing {}
        let stage = try stage()
        let untyped: [String: Any] = ["a": ["b": Thing()]]
        let error = #expect(throws: RequestSerializationError.self) {
            try stage.session.get("", parameters: ParameterValue(of: untyped))
        }
        #expect(error?.description.contains("'a[b]' is a Thing") == true)
        let page = 1
        let other = #expect(throws: RequestError.self) {
            try stage.session.get("", parameters: ["p": page, "x": Broken()])
        }
        #expect(other?.summary == "request unencodable" && other?.underlyingError is Broken.Why)
    }

    private struct Broken: Encodable {
        struct Why: Error {}
        func encode(to encoder: any Encoder) throws { throw Why() }
    }

    @Test func `a value is posted and decoded as JSON`() async throws {
        let stage = try stage()
        let user = User(id: 7, name: "Ann")
        let answer: User = try await stage.session.post("users", body: user).decoded()
        #expect(answer == user)
        let sent = try #require(stage.server.requests.values.last)
        #expect(
            sent.hasPrefix("POST /v1/users HTTP/1.1\r\n") && sent.contains("\r\nContent-Type: application/json\r\n"))
        #expect(try await stage.session.put("users/7", body: [user]).decoded(as: [User].self) == [user])
        let account: Account = try await stage.session.patch("users/7", body: user).decoded()
        #expect(account.name == "Ann")
        #expect(try await stage.session.post("users", body: user).response().decoded(as: User.self) == user)
    }

    @Test func `encoder and decoder are one's own`() async throws {
        let stage = try stage()
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .secondsSince1970
        decoder.dateDecodingStrategy = .secondsSince1970
        let user = User(id: 7, name: "Ann", born: Date(timeIntervalSince1970: 5))
        let task = try stage.session.post(
            "users", body: user, encoder: encoder, headers: ["content-type": "application/vnd.api+json"])
        #expect(try await task.decoded(as: User.self, using: decoder) == user)
        let sent = try #require(stage.server.requests.values.last)
        #expect(sent.contains(#""born":5"#) && sent.contains("\r\ncontent-type: application/vnd.api+json\r\n"))
    }

    @Test func `bytes are posted as they are`() async throws {
        let stage = try stage()
        #expect(try await stage.session.post("x", body: Data("abc".utf8)).data() == Data("abc".utf8))
        #expect(try await stage.session.put("x", body: Array("abc".utf8)).text() == "abc")
        #expect(try await stage.session.upload(Data("abc".utf8), to: "x").text() == "abc")
        let sent = try #require(stage.server.requests.values.first)
        #expect(sent.contains("\r\nContent-Type: application/octet-stream\r\n"))
    }

    @Test(arguments: [
        (#"{"id":"x","name":"n"}"#, "the body is not User: id: "), (#"{"id":1}"#, "the body is not User: name: "),
        ("", "the body is not User: it is empty"),
    ])
    func `what cannot be decoded is an error with the place, the cause and the body`(
        body: String, sentence: String
    ) async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(body) })
        let task = try stage.session.get("users/1")
        do {
            let user: User = try await task.decoded()
            Issue.record("\(user)")
        } catch {
            #expect(error.summary == "response undecodable" && error.description.hasPrefix(sentence), "\(error)")
            #expect(error.response?.body == Array(body.utf8))
            #expect((error.underlyingError is DecodingError) == !body.isEmpty)
        }
    }

    @Test func `an empty answer is nil where the value may be nil`() async throws {
        let stage = try SessionStage(answer: { request in
            request.contains(" /v1/none ")
                ? "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n" : SessionStage.answer(#"{"id":1,"name":"n"}"#)
        })
        let nothing: User? = try await stage.session.get("none").decoded()
        #expect(nothing == nil)
        let user: User? = try await stage.session.get("user").decoded()
        #expect(user?.name == "n")
        #expect(
            await failure { _ = try await stage.session.get("none").decoded(as: User.self) } == "response undecodable")
    }

    @Test func `an explanation has the words of the last error`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer("", status: "503 Busy") })
        let task = try stage.session.get("x")
        guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
        let explanation = await task.explanation()
        #expect(explanation.state == "over" && explanation.failure == "\(error)")
        #expect(explanation.description == "It failed: \(error).")
        var options = RequestOptions()
        options.retries = .attempts(2)
        let waiting = try stage.session.get("x", options: options).resume()
        while await waiting.explanation().state != "backoff" { await Task.yield() }
        #expect(await waiting.explanation().failure == "the server answered 503")
        waiting.cancel()
    }

    @Test func `a status that is no success is thrown with the server's reason`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer(#"{"why":"no"}"#, status: "422 X") })
        for read in [
            { (task: RequestTask) in _ = try await task.decoded(as: User.self) },
            { (task: RequestTask) in _ = try await task.data() }, { (task: RequestTask) in _ = try await task.json() },
        ] as [@Sendable (RequestTask) async throws -> Void] {
            let error = await #expect(throws: RequestError.self) { try await read(stage.session.get("")) }
            #expect(error?.summary == "response bad-status" && error?.response?.statusCode == 422)
        }
        let error = await #expect(throws: RequestError.self) { try await stage.session.get("").decoded(as: User.self) }
        #expect(error?.response?.object?.json?["why"]?.string == "no")
    }

    @Test func `data and text are read whatever the session's serializer is`() async throws {
        let stage = try SessionStage(answer: { _ in
            SessionStage.answer("gr\u{fc}n", type: "text/html; charset=utf-8")
        })
        #expect(try await stage.session.get("").text() == "gr\u{fc}n")
        #expect(try await stage.session.get("").data() == Data("gr\u{fc}n".utf8))
        #expect(await failure { _ = try await stage.session.get("").json() } == "response bad-content-type")
        let wrong = try SessionStage(answer: { _ in SessionStage.answer("x", type: "text/plain; charset=utf-16be") })
        #expect(try await wrong.session.get("").text() == "\u{fffd}")
    }

    @Test func `a URL is taken in each of its types`() async throws {
        let stage = try stage()
        let url = try #require(URL(string: stage.root + "/a?b=c"))
        #expect(try await stage.session.get(url).json() == "/a?b=c")
        #expect(try await stage.session.get(URL(string: "d")!).json() == "/v1/d")
        #expect(try await stage.session.get(WebAddress(stage.root + "/e")).json() == "/e")
        let directory = try TemporaryDirectory()
        let file = URL(filePath: directory.path + "/there")
        let response = try await stage.session.download(url, to: file).response()
        #expect(response.fileURL == file && response.data.isEmpty)
        #expect(try Data(contentsOf: file) == Data("\"/a?b=c\"".utf8))
        let upload = try stage.session.upload(file: file, to: url)
        #expect(try await upload.text() == "\"/a?b=c\"")
        #expect(try await stage.session.post(url, body: [1]).response().data == Data("[1]".utf8))
    }

    @Test func `what a form's builder throws is the underlying error`() async throws {
        let stage = try stage()
        let error = #expect(throws: RequestError.self) {
            try stage.session.postForm("x") { form in
                form.append(try Data(contentsOf: URL(filePath: "/nonexistent")), name: "a")
            }
        }
        #expect(error?.summary == "local unbuilt-body" && error?.underlyingError is CocoaError)
        let other = #expect(throws: RequestError.self) {
            try stage.session.postForm("x") { try $0.append(file: URL(filePath: "/nonexistent"), name: "a") }
        }
        #expect(other?.summary == "local unreadable-file")
        let id = 3
        let form = try stage.session.postForm("x", parameters: ["id": id, "name": "n"]) {
            $0.append(Data("abc".utf8), name: "file", fileName: "a.txt", mediaType: "text/plain")
        }
        let text = try await form.text()
        #expect(text.contains("name=\"id\"\r\n\r\n3\r\n") && text.contains("\r\n\r\nabc\r\n"))
    }
}
