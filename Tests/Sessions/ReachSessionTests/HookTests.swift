import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Tests of the hooks for redirects, credentials and responses.
@Suite(.timeLimit(.minutes(1))) struct HookTests {
    private static let redirecting: @Sendable (String) -> String = { request in
        let path = request.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        if path == "/loop" { return redirect(302, "/loop") }
        if path.hasPrefix("/to/"), let status = Int(path.dropFirst(4)) { return redirect(status, "/there") }
        return SessionStage.echo(request)
    }

    private static func redirect(_ status: Int, _ location: String) -> String {
        "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(location)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    }

    @Test(arguments: [(301, "GET"), (302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
    func `redirects are followed with the right method, and the response has the final URL`(
        status: Int, method: String
    ) async throws {
        let stage = try SessionStage(answer: Self.redirecting)
        let response = try await stage.session.post("/to/\(status)", parameters: ["a": "b"]).response()
        #expect(response.object?.json?["line"]?.string == "\(method) /there HTTP/1.1")
        #expect(response.url.path == "/there")
        let last = try #require(stage.server.requests.values.last)
        #expect(last.hasSuffix("a=b") == (method == "POST"))
        // The key belongs to what the first request did.
        #expect(last.contains("Idempotency-Key: ") == (method == "POST"))
        #expect(stage.server.requests.values.first?.contains("Idempotency-Key: ") == true)
    }

    /// Servers write such fields, although RFC 9110 wants a URI there.
    @Test(arguments: [
        ("/there/[1]|{x} y?a=[]|{ }", "/there/[1]|{x}%20y?a=[]|{%20}"),
        ("there/gr\u{fc}n?\u{e4}=\u{f6}", "/there/gr%C3%BCn?%C3%A4=%C3%B6"),
    ])
    func `a redirect is followed to a URL that browsers escape`(location: String, path: String) async throws {
        let stage = try SessionStage(answer: { request in
            request.hasPrefix("GET /moved ") ? Self.redirect(302, location) : SessionStage.echo(request)
        })
        let response = try await stage.session.get("/moved").response()
        #expect(response.object?.json?["line"]?.string == "GET \(path) HTTP/1.1")
        #expect("\(response.url)" == stage.root + path)
    }

    @Test func `the hook sees the URL after redirects, and so does the response of a long answer`() async throws {
        let directory = try TemporaryDirectory()
        let log = EventLog<String>()
        let stage = try SessionStage(keeping: .directory(directory.path + "/queue")) {
            $0.responseSerializer = DataResponseSerializer()
            $0.hooks.disposition = { _, response in
                log.append(response.url.path)
                return .allow
            }
        } answer: { request in
            request.contains(" /to ")
                ? Self.redirect(302, "/long")
                : SessionStage.answer(String(repeating: "long ", count: 40_000), type: "text/plain")
        }
        let response = try await stage.session.get("/to").response()
        #expect(response.body.count == 200_000 && response.url.path == "/long")
        #expect(response.head.headerFields.allSatisfy { $0.name.rawName != "(url)" })
        #expect(log.values == ["/long"])
        await stage.session.closeAndWait()
    }

    @Test func `hooks are asked for requests of an earlier run, whose responses have the final URL`() async throws {
        let directory = try TemporaryDirectory()
        let log = EventLog<String>()
        let server = try ScriptedServer { connection in connection.write(Self.redirecting(connection.readRequest())) }
        let root = "http://127.0.0.1:\(server.port)"
        let first = try RequestSession(keeping: .directory(directory.path + "/queue"))
        for path in ["/to/302", "/to/303"] {
            let task = try first.get(root + path).resume()
            task.suspend()
            try await task.stored()
        }
        await first.closeAndWait()
        var options = RequestSessionOptions()
        options.hooks.disposition = { task, response in
            log.append("\(task != nil) \(response.url.path)")
            return log.values.count == 1 ? .allow : .cancel
        }
        let second = try RequestSession(keeping: .directory(directory.path + "/queue"), options: options)
        var tasks = await second.tasks()
        try #require(tasks.count == 2)
        #expect(try await tasks[0].resume().response().url.path == "/there")
        #expect(await failure { try await tasks[1].resume().response() } == "cancelled cancelled")
        #expect(log.values == ["true /there", "true /there"])
        tasks = []
        await second.closeAndWait()
    }

    @Test func `hooks are asked about a request of an earlier run that has no task`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in connection.write(Self.redirecting(connection.readRequest())) }
        let root = "http://127.0.0.1:\(server.port)"
        let first = try RequestSession(keeping: .directory(directory.path + "/queue"))
        first.suspend()
        try await first.get(root + "/to/302").stored()
        await first.closeAndWait()
        let log = EventLog<String>()
        var options = RequestSessionOptions()
        options.hooks.disposition = { task, response in
            log.append("\(task != nil) \(response.url.path)")
            return .allow
        }
        let second = try RequestSession(keeping: .directory(directory.path + "/queue"), options: options)
        second.resume()
        #expect(try await log.wait(for: 1) == ["false /there"])
        let tasks = await second.tasks()
        try #require(tasks.count == 1)
        #expect(try await tasks[0].response().url.path == "/there")
        await second.closeAndWait()
    }

    @Test func `a hook decides about each redirect, and may change it or stay`() async throws {
        let log = EventLog<String>()
        let decision = EventLog<RedirectDecision>()
        let stage = try SessionStage {
            $0.hooks.redirect = { task, redirect in
                log.append("\(task?.identifier ?? 0) \(redirect.response.statusCode) \(redirect.destination.path)")
                return decision.values.last ?? .follow
            }
        } answer: {
            Self.redirecting($0)
        }
        let first = try stage.session.get("/to/302")
        #expect(try await first.response().statusCode == 200)
        #expect(log.values == ["\(first.identifier) 302 /there"])
        decision.append(.stay)
        let stayed = try await stage.session.get("/to/302").awaitedResult
        guard case .failure(let error) = stayed else { throw TestFailure("\(stayed)") }
        #expect(error.summary == "response bad-status" && error.response?.statusCode == 302)
        var headers = HTTPFields()
        try headers.set("X-More", "yes")
        decision.append(.followAdding(headers))
        try await stage.session.get("/to/302").response()
        #expect(stage.server.requests.values.last?.contains("X-More: yes\r\n") == true)
        decision.append(.goTo(try WebAddress(stage.root + "/other")))
        let other = try await stage.session.get("/to/302").value()
        #expect(other?.json?["line"]?.string == "GET /other HTTP/1.1")
    }

    @Test(arguments: ["Content-Length", "Connection", "Transfer-Encoding"])
    func `a header that frames the message is rejected from a hook`(name: String) async throws {
        var headers = HTTPFields()
        try headers.set(name, "3")
        let stage = try SessionStage { [headers] in
            $0.hooks.redirect = { _, _ in .followAdding(headers) }
        } answer: {
            Self.redirecting($0)
        }
        #expect(await failure { try await stage.session.get("/to/302").response() } == "request bad-request")
        #expect(stage.server.requests.values.count == 1)
    }

    @Test func `the number of redirects is limited, and redirects can be turned off`() async throws {
        let stage = try SessionStage({ $0.redirects = .follow(limit: 3) }, answer: Self.redirecting)
        #expect(await failure { try await stage.session.get("/loop").response() } == "response too-many-redirects")
        #expect(stage.server.requests.values.count == 4)
        let strict = try SessionStage({ $0.redirects = .none }, answer: Self.redirecting)
        #expect(await failure { try await strict.session.get("/to/302").response() } == "response bad-status")
        #expect(strict.server.requests.values.count == 1)
    }

    @Test(arguments: [
        ("Location: ftp://127.0.0.1/file\r\n", "unsupported-protocol"), ("", "no-location"),
        ("Location: http://[/\r\n", "bad-request"),
    ])
    func `a redirect that is not followed says why, and has the response`(field: String, word: String) async throws {
        let stage = try SessionStage(answer: { _ in
            "HTTP/1.1 302 Found\r\n\(field)Content-Length: 0\r\nConnection: close\r\n\r\n"
        })
        guard case .failure(let error) = await (try stage.session.get("/x")).awaitedResult else {
            throw TestFailure("no error")
        }
        #expect(error.summary == "response \(word)" && error.response?.statusCode == 302)
        var options = RequestOptions()
        options.acceptedStatuses = [302...302]
        let wanted = await failure { try await stage.session.get("/x", options: options).response() }
        #expect(wanted == "response bad-status")
    }

    // MARK: - Credentials

    private static let guarded: @Sendable (String) -> String = { request in
        // ann:secret
        if request.contains("Authorization: Basic YW5uOnNlY3JldA==\r\n") { return SessionStage.echo(request) }
        return
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"x, y\", nonce=\"1\", Basic realm=\"the \\\"zoo\\\"\"\r\n"
            + "Content-Length: 0\r\nConnection: close\r\n\r\n"
    }

    @Test func `the hook's credentials are sent in the same attempt`() async throws {
        let log = EventLog<String>()
        let stage = try SessionStage(
            {
                $0.hooks.challenge = { _, challenge in
                    log.append("\(challenge.realm) \(challenge.failureCount)")
                    return UserCredentials(user: "ann", password: challenge.failureCount == 0 ? "wrong" : "secret")
                }
            }, answer: Self.guarded)
        #expect(try await stage.session.get("").response().statusCode == 200)
        #expect(log.values == [#"the "zoo" 0"#, #"the "zoo" 1"#])
    }

    @Test(arguments: [true, false])
    func `without credentials, or with only wrong ones, the challenge is the answer`(gives: Bool) async throws {
        let stage = try SessionStage(
            {
                $0.hooks.challenge = { _, _ in gives ? UserCredentials(user: "ann", password: "wrong") : nil }
            }, answer: Self.guarded)
        let result = try await stage.session.get("").awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.response?.statusCode == 401)
        #expect(stage.server.requests.values.count == (gives ? 6 : 1))
    }

    // MARK: - Dispositions

    @Test func `the hook can cancel an answer by its head, or turn it into a download`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/there"
        let stage = try SessionStage(
            {
                $0.hooks.disposition = { _, response in
                    response.url.path == "/cancel"
                        ? .cancel : response.url.path == "/file" ? .becomeDownload(path: path) : .allow
                }
            })
        #expect(try await stage.session.get("/").response().object != nil)
        #expect(await failure { try await stage.session.get("/cancel").response() } == "cancelled cancelled")
        let response = try await stage.session.get("/file").response()
        #expect(response.path == path && response.body.isEmpty && response.object == nil)
        #expect(try ChildProcess.run(["cat", path]) == #"{"line":"GET /file HTTP/1.1"}"#)
        #expect(try ChildProcess.run(["ls", directory.path]) == "there\n")
    }

    @Test func `everything about a download follows the place that the hook chooses`() async throws {
        let directory = try TemporaryDirectory()
        let (first, chosen) = (directory.path + "/first", directory.path + "/chosen")
        try directory.file("first", "old")
        let stage = try SessionStage({ $0.hooks.disposition = { _, _ in .becomeDownload(path: chosen) } }) { request in
            request.contains(" /half ")
                ? "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 100\r\n\r\nhalf" : SessionStage.echo(request)
        }
        let response = try await stage.session.download("/file", to: first).response()
        #expect(response.path == chosen)
        #expect(try ChildProcess.run(["cat", chosen]) == #"{"line":"GET /file HTTP/1.1"}"#)
        #expect(try ChildProcess.run(["cat", first]) == "old")
        guard case .failure(let error) = await (try stage.session.download("/half", to: first)).awaitedResult,
            let data = error.resumeData
        else { throw TestFailure("no resume data") }
        #expect(data.destination == chosen)
        #expect(try ChildProcess.run(["cat", data.partialFile]) == "half")
    }

    @Test func `a block chooses the place of a download by its response`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage()
        let task = try stage.session.download("/dir/name.json", to: directory.path + "/first")
        task.chooseDestination { directory.path + "/" + $0.suggestedFileName }
        #expect(try await task.response().path == directory.path + "/name.json")
        #expect(try ChildProcess.run(["ls", directory.path]) == "name.json\n")
    }

    @Test func `a download whose place was chosen resumes there after a suspension`() async throws {
        let directory = try TemporaryDirectory()
        let server = try HalvingServer()
        let session = try RequestSession()
        let task = try session.download(server.url, to: directory.path + "/first")
        task.chooseDestination { _ in directory.path + "/chosen" }
        let log = EventLog<TaskProgress>()
        task.whenProgressed { log.append($0) }
        task.resume()
        try await log.wait { $0.received > 0 }
        task.suspend()
        while await task.explanation().state != "held" { await Task.yield() }
        server.gate.open()
        task.resume()
        #expect(try await task.response().path == directory.path + "/chosen")
        #expect(try ChildProcess.run(["cat", directory.path + "/chosen"]) == HalvingServer.body)
        #expect(try ChildProcess.run(["ls", directory.path]) == "chosen\n" && server.ranges.count == 1)
    }
}
