import Glibc
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Synchronization
import Testing

/// What single requests and blocks can ask for: cookies, methods of redirects, challenges, pieces, events and parts.
@Suite(.timeLimit(.minutes(1))) struct SayableTests {
    @Test func `a request without cookies neither sends nor stores any`() async throws {
        let stage = try SessionStage(answer: { request in
            SessionStage.echo(request).replacing("Content-Type", with: "Set-Cookie: n=1\r\nContent-Type")
        })
        var options = RequestOptions()
        options.usesCookies = false
        try await stage.session.get("a", options: options).response()
        #expect(stage.session.cookies.cookies.isEmpty)
        try await stage.session.get("b").response()
        try await stage.session.get("c", options: options).response()
        try await stage.session.get("d").response()
        let sent = stage.server.requests.values.map { $0.contains("Cookie: n=1\r\n") }
        #expect(sent == [false, false, false, true])
    }

    @Test func `a request in memory continues without the Swift task that awaited it, if asked to`() async throws {
        let slow = try SlowServer()
        let session = try RequestSession()
        var options = RequestOptions()
        options.isCancelledWithWaiting = false
        let task = try session.get(slow.url, options: options)
        let waiting = Task { await failure { try await task.response() } }
        try await slow.server.requests.wait(for: 1)
        waiting.cancel()
        #expect(await waiting.value == "cancelled wait-cancelled")
        slow.gate.open()
        #expect(try await task.response().statusCode == 200)
    }

    @Test(arguments: [("PUT", true), ("GET", false), ("POST", true)])
    func `a block changes the method of a redirect, and the body goes along`(method: String, hasBody: Bool) async throws
    {
        let stage = try SessionStage({ $0.hooks.redirect = { _, _ in .followAs(method: method) } }) { request in
            request.hasPrefix("POST /v1/x ")
                ? "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                : SessionStage.echo(request)
        }
        let response = try await stage.session.post("x", body: ["a": 1]).response()
        #expect(response.statusCode == 200)
        let last = try #require(stage.server.requests.values.last)
        #expect(last.hasPrefix("\(method) /y ") && last.hasSuffix("{\"a\":1}") == hasBody)
        #expect(last.contains("Content-Type: application/json") == hasBody)
    }

    @Test func `a method that is none ends the redirect`() async throws {
        let stage = try SessionStage({ $0.hooks.redirect = { _, _ in .followAs(method: "A B") } }) { _ in
            "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        }
        #expect(await failure { try await stage.session.get("x").response() } == "request bad-method")
    }

    @Test func `the hook for challenges can cancel a request, or end it with an error`() async throws {
        struct Locked: Error {}
        let stage = try SessionStage(
            {
                $0.hooks.challenge = { _, challenge in
                    if challenge.response.url.path == "/v1/cancel" { throw CancellationError() }
                    if challenge.response.url.path == "/v1/own" {
                        throw RequestError(kind: .security, word: "locked", description: "locked out")
                    }
                    throw Locked()
                }
            }, answer: { _ in SessionStage.answer("{}", status: "401 No\r\nWWW-Authenticate: Basic realm=\"r\"") })
        let task = try stage.session.get("cancel")
        #expect(await failure { try await task.response() } == "cancelled cancelled")
        #expect(task.requestState == .cancelled)
        #expect(await failure { try await stage.session.get("own").response() } == "security locked")
        let result = await (try stage.session.get("other")).awaitedResult
        guard case .failure(let error) = result else { throw TestFailure("\(result)") }
        #expect(error.word == "challenge" && error.underlyingError is Locked)
    }

    @Test(arguments: [false, true])
    func `one block receives the bytes of all answers, and of no redirect`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let received = Mutex<[UInt64: Int]>([:])
        let big = String(repeating: "x", count: 300_000)
        let stage = try SessionStage(
            keeping: onDisk ? .directory(directory.path + "/queue") : .memory,
            {
                $0.responseSerializer = DataResponseSerializer()
                $0.hooks.received = { task, bytes in
                    received.withLock { $0[task?.identifier ?? 0, default: 0] += bytes.count }
                }
            },
            answer: { request in
                request.hasPrefix("GET /v1/x ")
                    ? "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmoved"
                    : SessionStage.answer(request.hasPrefix("GET /y ") ? big : "short", type: "text/plain")
            })
        let (long, short) = (try stage.session.get("x"), try stage.session.get("z"))
        #expect(try await long.response().body.count == 300_000)
        #expect(try await short.response().text == "short")
        let read = try stage.session.get("w")
        for try await _ in try await read.stream() {}
        try await stage.session.download("v", to: directory.path + "/file").response()
        #expect(
            received.withLock { $0 } == [long.identifier: 300_000, short.identifier: 5, read.identifier: 5])
        await stage.session.closeAndWait()
    }

    @Test func `the start of an attempt and a download that continues are events`() async throws {
        let whole = String(repeating: "0123456789", count: 10)
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            connection.write(
                request.contains("Range: bytes=4-\r\n")
                    ? "HTTP/1.1 206 Part\r\nETag: \"one\"\r\nContent-Range: bytes 4-99/100\r\nContent-Length: 96\r\n\r\n"
                        + whole.dropFirst(4)
                    : "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 100\r\n\r\n0123")
        }
        let directory = try TemporaryDirectory()
        let session = try RequestSession()
        let log = EventLog<RequestNotification>()
        session.addObserver { log.append($0.name) }
        let url = "http://127.0.0.1:\(server.port)/"
        let first = try session.download(url, to: directory.path + "/file")
        guard case .failure(let error) = await first.awaitedResult, let data = error.resumeData else {
            throw TestFailure("no resume data")
        }
        #expect(first.resumeOffset == nil)
        let second = try session.download(resuming: data)
        try await second.response()
        #expect(second.resumeOffset == 4)
        let names = try await log.wait(for: 7)
        #expect(
            names == [
                .didResume, .didStart, .didComplete, .didResume, .didStart, .didResumeAtOffset, .didComplete,
            ])
    }

    @Test func `the pictures of a camera are read one by one, each as soon as it is there`() async throws {
        let gate = ThreadGate()
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=\"frame\"\r\n\r\npreamble\r\n--frame\r\n"
                    + "Content-Type: image/jpeg\r\nContent-Length: 4\r\n\r\none1")
            gate.wait()
            connection.write("\r\n--frame\r\nX-Number: 2\r\n\r\ntwo\r\n--framed\r\n\r\n--frame--\r\nafter")
        }
        let session = try RequestSession()
        let stream = try await session.get("http://127.0.0.1:\(server.port)/").stream()
        var parts: [ResponsePart] = []
        for try await part in try stream.parts() {
            parts.append(part)
            gate.open()
        }
        #expect(parts.map { String(decoding: $0.body, as: UTF8.self) } == ["one1", "two\r\n--framed\r\n"])
        #expect(parts.first?.headers[.contentType] == "image/jpeg" && parts.last?.headers["X-Number"] == "2")
    }

    @Test(arguments: [
        // No boundary before the first picture, and one with hyphens in its name.
        "Content-Type: image/jpeg\r\nContent-Length: 3\r\n\r\none\r\n--b\r\n\r\ntwo\r\n--b\r\n",
        "----b\r\n\r\none\r\n----b\r\n\r\ntwo\r\n----b--", "--b\n\none\n--b \nA: b\n\ntwo\n--b--\n",
    ])
    func `cameras that write their boundaries in other ways are read, in pieces of any size`(body: String) async throws
    {
        let boundary = body.hasPrefix("----") ? "----b" : "b"
        for size in [1, 7, 1000] {
            let server = try ScriptedServer { connection in
                _ = connection.readRequest()
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=\(boundary)\r\n\r\n")
                var rest = body[...]
                while !rest.isEmpty {
                    connection.write(String(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
            }
            var parts: [String] = []
            let stream = try await RequestSession().get("http://127.0.0.1:\(server.port)/").stream()
            for try await part in try stream.parts() { parts.append(String(decoding: part.body, as: UTF8.self)) }
            #expect(parts == ["one", "two"])
        }
    }

    @Test func `an answer without parts, and a part that is too long, are errors`() async throws {
        let stage = try SessionStage(answer: { request in
            request.hasPrefix("GET /v1/long ")
                ? SessionStage.answer(
                    "--b\r\n\r\n" + String(repeating: "x", count: 5000), type: "multipart/x-mixed-replace; boundary=b")
                : SessionStage.echo(request)
        })
        let plain = try await stage.session.get("x").stream()
        #expect(await failure { _ = try plain.parts() } == "response not-multipart")
        let long = try await stage.session.get("long").stream()
        #expect(
            await failure { for try await _ in try long.parts(limit: 1000) {} } == "response part-too-long")
    }

    @Test func `a download that comes compressed all the same is stored as it was before`() async throws {
        let directory = try TemporaryDirectory()
        _ = try ChildProcess.run(["sh", "-c", "printf hello > \(directory.path)/x; gzip -k \(directory.path)/x"])
        let packed = try ChildProcess.run(["sh", "-c", "od -An -v -tx1 \(directory.path)/x.gz | tr -d ' \\n'"])
        let bytes = stride(from: 0, to: packed.utf8.count, by: 2).compactMap {
            UInt8(packed.dropFirst($0).prefix(2), radix: 16)
        }
        let server = try ScriptedServer { connection in
            let type = connection.readRequest().hasPrefix("GET /archive ") ? "application/gzip" : "application/x-tar"
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Encoding: gzip\r\nETag: \"one\"\r\n"
                    + "Content-Length: \(bytes.count)\r\nConnection: close\r\n\r\n")
            connection.write(bytes)
        }
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        try await session.download("plain", to: directory.path + "/plain").response()
        #expect(try ChildProcess.run(["cat", directory.path + "/plain"]) == "hello")
        #expect(server.requests.values.last?.contains("Accept-Encoding: identity\r\n") == true)
        // An archive is wanted as it is, though the server names its compression twice.
        for path in ["archive", "x.tar.gz?a=b"] {
            try await session.download(path, to: directory.path + "/x.tar.gz").response()
            #expect(try ChildProcess.run(["gzip", "-dc", directory.path + "/x.tar.gz"]) == "hello")
        }
    }

    @Test func `a line of the head that arrives slowly is no silence`() async throws {
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Long: ")
            for _ in 0..<8 {
                usleep(250_000)
                connection.write("x")
            }
            connection.write("\r\nContent-Length: 2\r\n\r\n{}")
        }
        var options = RequestSessionOptions()
        options.timeouts.idle = .milliseconds(1000)
        let session = try RequestSession(options: options)
        #expect(try await session.get("http://127.0.0.1:\(server.port)/").response().statusCode == 200)
        let silent = try SlowServer()
        #expect(await failure { try await session.get(silent.url).response() } == "destination idle-timeout")
    }

    @Test(arguments: [
        ("\u{dc}bersetzer", "Ubersetzer"), ("\u{421}\u{43f}\u{443}\u{442}", "Sput"), ("plain/1", "plain/1"),
    ])
    func `a name in other scripts is written in Latin letters`(name: String, latin: String) {
        #expect(DefaultHeaders.transliterated(name) == latin)
    }
}
