import HTTPTypes
import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// Requests as text: for a shell, for a log, and the names of files that servers suggest.
@Suite(.timeLimit(.minutes(1))) struct RequestTextTests {
    @Test(
        arguments: [
            ("GET", [:], nil, "curl 'https://example.org/it%27s'"), ("HEAD", [:], nil, "curl --head "),
            ("GET", ["X-Empty": ""], nil, "--header 'X-Empty;' "),
            (
                "POST", ["Content-Type": "text/plain"], "it's",
                #"--header 'Content-Type: text/plain' --data-raw 'it'\''s' "#
            ),
            ("DELETE", [:], nil, "curl --request DELETE 'https"),
            ("PATCH", [:], "\u{0}", "printf %s 'AA==' | base64 --decode | curl --request PATCH "),
        ] as [(String, [String: String], String?, String)])
    func `a request is a command of curl`(
        method: String, headers: [String: String], body: String?, part: String
    ) throws {
        let request = try WebRequest(
            method: method, url: WebAddress("https://example.org/it%27s"), headers: HTTPFields(headers),
            body: body.map { .bytes(Array($0.utf8)) } ?? .none)
        #expect(request.curlCommand.contains(part))
        #expect(request.curlCommand.hasSuffix(" 'https://example.org/it%27s'"))
    }

    @Test func `a shell runs nothing of a request's text, also where a combining mark follows a quotation mark`() throws
    {
        let directory = try TemporaryDirectory()
        let body = "'\u{301};touch \(directory.path)/Z;'\u{301}"
        let request = try WebRequest(
            method: .post, url: WebAddress("http://192.0.2.1/"), headers: HTTPFields(["X": body]),
            body: .bytes(Array(body.utf8)))
        let printed = try ChildProcess.run(["sh", "-c", "curl() { printf '%s\\n' \"$@\"; }; \(request.curlCommand)"])
        #expect(printed.utf8Range(of: "\n" + body + "\n") != nil, "\(printed)")
        #expect(try ChildProcess.run(["ls", directory.path]).isEmpty)
    }

    @Test(arguments: [
        ("a/\u{301}..\\\u{301}b", "\u{301}b"), (".\u{301}bashrc", "\u{301}bashrc"),
        ("photo\u{202e}gpj.exe", "photogpj.exe"),
        ("e" + String(repeating: "\u{301}", count: 400), "e" + String(repeating: "\u{301}", count: 127)),
    ])
    func `the name of a file has no separator and no mark of direction, whatever follows it`(sent: String, name: String)
        throws
    {
        let field = try HTTPFields([
            "Content-Disposition": "attachment; filename*=UTF-8''"
                + sent.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        ])
        let head = HTTPResponse(status: .ok, headerFields: field)
        let found = WebResponse(url: try WebAddress("https://example.org"), head: head).suggestedFileName
        #expect(Array(found.utf8) == Array(name.utf8))
    }

    @Test(arguments: ["it's 5 € $HOME `id` \"x\"", "@file", "a\u{0}b\n"])
    func `curl sends what the session sends`(body: String) async throws {
        let stage = try SessionStage()
        var request = try WebRequest(
            method: "PUT", url: WebAddress(stage.root + "/a?b=[1]"), body: .bytes(Array(body.utf8)))
        request.headers = try HTTPFields(["X-Note": "it's", "Content-Type": "text/plain"])
        try await stage.session.task(for: request).response()
        try ChildProcess.run(["sh", "-c", request.curlCommand + " --silent"])
        let sent = stage.server.requests.values.map { text in
            let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            return lines.filter { line in
                ["PUT ", "X-Note:", "Content-Type:", "Content-Length:"].contains { line.hasPrefix($0) }
            }.sorted() + [lines.last ?? ""]
        }
        #expect(sent.count == 2 && sent.first == sent.last)
    }

    @Test func `each request of a task is seen as it is sent`() async throws {
        let stage = try SessionStage {
            $0.responseSerializer = DataResponseSerializer()
        } answer: { request in
            request.contains(" /v1/from ")
                ? "HTTP/1.1 302 Found\r\nLocation: /to\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n"
                    + "Connection: close\r\n\r\n"
                : SessionStage.echo(request)
        }
        let task = try stage.session.get("from", headers: ["X-Own": "1"])
        let requests = task.sentRequests
        try await task.response()
        var commands: [String] = []
        for await request in requests { commands.append(request.curlCommand) }
        #expect(commands.count == 2 && commands.allSatisfy { $0.contains("--header 'X-Own: 1'") })
        #expect(commands.first?.hasSuffix("'\(stage.root)/v1/from'") == true)
        #expect(
            commands.last?.hasSuffix("'\(stage.root)/to'") == true && commands.last?.contains("Cookie: a=b") == true)
        for await _ in task.sentRequests { Issue.record("a task that is over sends nothing") }
    }

    @Test func `a task describes itself by its method, URL and state`() async throws {
        let stage = try SessionStage(answer: { _ in SessionStage.answer("{}", status: "404 No") })
        let task = try stage.session.get("x")
        #expect("\(task)" == "GET \(stage.root)/v1/x (suspended)")
        #expect(await failure { try await task.response() } == "response bad-status")
        #expect("\(task)".hasPrefix("GET \(stage.root)/v1/x (") && "\(task)".hasSuffix(", 404)"))
    }

    @Test(
        arguments: [
            ("attachment; filename=\"a b.txt\"", "a b.txt"), ("attachment; FileName=plain.txt; x=y", "plain.txt"),
            ("attachment; filename=\"old\"; filename*=UTF-8''%e2%82%ac%20rates", "€ rates"),
            ("inline; filename*=UTF-8''%zz; filename=rest", "rest"),
            ("inline; filename*=UTF-8''a%+5; filename=rest", "rest"),
            ("attachment; filename=\"../../etc/passwd\"", "passwd"),
            (#"attachment; filename="C:\\temp\\x.doc""#, "x.doc"), ("attachment; filename=\".hidden\"", "hidden"),
            (#"attachment; filename="semi;\"colon.txt""#, "semi;\"colon.txt"),
            ("attachment; filename=\"..\"", "last part.tar"), ("attachment", "last part.tar"), (nil, "last part.tar"),
            ("attachment; filename*=UTF-8''a%01b", "ab"),
        ] as [(String?, String)])
    func `a server suggests the name of a file within a directory`(field: String?, name: String) throws {
        var head = HTTPResponse(status: .ok)
        if let field { head.headerFields[.contentDisposition] = field }
        let url = try WebAddress("https://example.org/a/last%20part.tar?x=y")
        #expect(WebResponse(url: url, head: head).suggestedFileName == name)
        #expect(
            WebResponse(url: try WebAddress("https://example.org"), head: HTTPResponse(status: .ok)).suggestedFileName
                == "Unknown")
    }

    @Test func `a download goes to the suggested name, in a directory that is created`() async throws {
        let directory = try TemporaryDirectory()
        let place = directory.path + "/new/deep/"
        let stage = try SessionStage { options in
            options.responseSerializer = DataResponseSerializer()
            options.requests.createsDirectories = true
            options.hooks.disposition = { _, response in .becomeDownload(path: place + response.suggestedFileName) }
        } answer: { _ in
            "HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"report.txt\"\r\nContent-Length: 3\r\n"
                + "Connection: close\r\n\r\nabc"
        }
        let response = try await stage.session.get("x").response()
        #expect(response.path == place + "report.txt")
        #expect(try ChildProcess.run(["cat", place + "report.txt"]) == "abc")
    }

    @Test func `the directories of a download are created only where that is asked for`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage()
        let path = directory.path + "/a/b/c"
        #expect(await failure { try await stage.session.download("x", to: path).response() } == "local file-failed")
        var options = RequestOptions()
        options.createsDirectories = true
        #expect(try await stage.session.download("x", to: path, options: options).response().path == path)
        #expect(
            await failure { _ = try stage.session.download("x", to: path + "/d", options: options) }
                == "local file-failed")
    }

    @Test func `a download is read as any response is`() async throws {
        let directory = try TemporaryDirectory()
        let stage = try SessionStage(answer: { _ in SessionStage.answer(#"{"a":[1,2]}"#) })
        let task = try stage.session.download("x", to: directory.path + "/x")
        #expect(try await task.text() == #"{"a":[1,2]}"#)
        #expect(try await task.json()["a"]?[1]?.integer == 2)
        #expect(try await task.decoded(as: [String: [Int]].self) == ["a": [1, 2]])
        let read = try await task.response(by: JSONResponseSerializer())
        #expect(read.path == directory.path + "/x" && read.object?.json?["a"]?[0]?.integer == 1)
        #expect(try await task.response().body.isEmpty)
        try ChildProcess.run(["rm", directory.path + "/x"])
        #expect(await failure { _ = try await task.data() } == "local file-failed")
    }
}
