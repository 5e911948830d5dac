import Foundation
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Sessions whose requests a stub answers.
@Suite(.timeLimit(.minutes(1))) struct StubTests {
    private struct User: Codable, Sendable, Equatable { var name: String }

    private func session(
        _ stub: StubTransport, keeping: RequestSession.Keeping = .memory,
        _ change: (inout RequestSessionOptions) -> Void = { _ in }
    ) throws -> RequestSession {
        var options = RequestSessionOptions(stub: stub)
        change(&options)
        return try RequestSession(keeping: keeping, baseURL: "https://api.example.org/v1", options: options)
    }

    @Test func `a dictionary answers by method and path, by path, and by URL`() async throws {
        let stub = StubTransport([
            "GET /v1/users/1": .json(["name": "Ann"]), "/v1/any?a=b": .text("any"),
            "POST https://api.example.org/v1/users": try .encoded(User(name: "Bob"), statusCode: 201),
        ])
        let session = try session(stub)
        #expect(try await session.get("users/1").decoded() == User(name: "Ann"))
        #expect(try await session.delete("any", parameters: ["a": "b"]).text() == "any")
        let answer = try await session.post("users", body: User(name: "Bob")).response()
        #expect(answer.statusCode == 201 && answer.object?.json?["name"] == "Bob")
        #expect(await failure { try await session.get("users/2").response() } == "request bad-request")
        #expect(
            stub.requests.map { "\($0.method) \($0.url.path)" }.prefix(2) == ["GET /v1/users/1", "DELETE /v1/any"])
        guard case .bytes(let body) = stub.requests[2].body else { throw TestFailure("no body") }
        #expect(String(decoding: body, as: UTF8.self) == #"{"name":"Bob"}"#)
    }

    @Test(arguments: [false, true])
    func `of what several threads resume at once each is sent once, or ends with its session`(
        isClosed: Bool
    ) async throws {
        let stub = StubTransport { _ in .json([true]) }
        let session = try session(stub)
        let answered = await withTaskGroup(of: Int.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    let tasks = (0..<50).compactMap { try? session.get("\(thread)/\($0)").resume() }
                    var answered = 0
                    for task in tasks where (try? await task.response()) != nil { answered += 1 }
                    return answered
                }
            }
            if isClosed { session.close() }
            return await group.reduce(0, +)
        }
        let paths = stub.requests.map(\.url.path)
        #expect(Set(paths).count == paths.count && answered <= paths.count && (isClosed || answered == 200))
    }

    @Test func `what a session does with an answer it does with a stub's`() async throws {
        let stub = StubTransport { request in
            switch request.url.path {
            case "/v1/moved": .status(302, headers: ["Location": "/v1/there"])
            case "/v1/there": .json(["at": "there"])
            case "/v1/secret" where request.headers["Authorization"] == nil:
                .status(401, headers: ["WWW-Authenticate": "Basic realm=\"r\""])
            case "/v1/secret": .json([true])
            case "/v1/html": .text("<p>", type: "text/html")
            default: .status(404)
            }
        }
        let session = try session(stub) {
            $0.hooks.challenge = { _, _ in UserCredentials(user: "u", password: "p") }
        }
        let moved = try await session.get("moved").response()
        #expect(moved.url.path == "/v1/there" && moved.object?.json?["at"] == "there")
        #expect(try await session.get("secret").json() == [true])
        #expect(await failure { try await session.get("html").response() } == "response bad-content-type")
        #expect(await failure { try await session.get("none").response() } == "response bad-status")
    }

    @Test(arguments: StubFailure.allCases.filter { $0 != .networkDown })
    func `a failure has the word that the network's has`(failing: StubFailure) async throws {
        let session = try session(StubTransport { _ in .failing(failing) })
        let error = await #expect(throws: RequestError.self) { try await session.get("").response() }
        #expect(error?.word == failing.rawValue)
        #expect(error?.kind == (failing == .certificateUntrusted ? .security : .destination))
    }

    @Test func `a request is repeated as its options say`() async throws {
        let tries = EventLog<Int>()
        let session = try session(
            StubTransport { _ in
                tries.append(0)
                return tries.values.count < 3 ? .failing(.connectionReset) : .json([])
            })
        var options = RequestOptions()
        options.retries = .attempts(3)
        #expect(try await session.get("", options: options).json() == [])
        #expect(tries.values.count == 3)
    }

    @Test func `a request waits for the link that its constraint needs`() async throws {
        let stub = StubTransport { _ in .json(1) }
        stub.setLink(nil)
        let session = try session(stub)
        let (any, wifi) = (try session.get("any").resume(), try session.get("wifi", when: .wifi).resume())
        let log = EventLog<String>()
        any.whenComplete { _ in log.append("any") }
        wifi.whenComplete { _ in log.append("wifi") }
        _ = try await any.stored()
        while any.suspensionReasons != .network { try await Task.sleep(for: .milliseconds(5)) }
        #expect(stub.requests.isEmpty)
        stub.setLink(.wwan)
        #expect(try await log.wait(for: 1) == ["any"])
        #expect(wifi.requestState == .suspended && wifi.suspensionReasons == .network)
        stub.setLink(.wifi)
        #expect(try await log.wait(for: 2) == ["any", "wifi"])
    }

    @Test(arguments: [false, true])
    func `files are uploaded and downloaded`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let stub = StubTransport { request in
            guard case .bytes(let bytes) = request.body, !bytes.isEmpty else { return .data(Data("there".utf8)) }
            return .data(Data(bytes))
        }
        let session = try session(
            stub, keeping: onDisk ? .directory(directory.path + "/queue") : .memory)
        let path = directory.path + "/there"
        let response = try await session.download("file", to: path).response()
        #expect(response.path == path && ProjectText.at(path) == "there")
        #expect(try await session.upload(file: path, to: "x").text() == "there")
        let form = try session.postForm("form") { try $0.append(file: path, name: "f") }
        #expect(try await form.text().contains("\r\n\r\nthere\r\n--"))
        let long = Data(repeating: 7, count: 300_000)
        #expect(try await session.post("long", body: long).data() == long)
        await session.closeAndWait()
    }

    @Test func `an answer comes late, and a cancelled request does not get one`() async throws {
        let stub = StubTransport([
            "/v1/late": .json(1).delayed(by: .milliseconds(30)), "/v1/never": .json(1).delayed(by: .seconds(600)),
        ])
        let session = try session(stub)
        let start = ContinuousClock.now
        #expect(try await session.get("late").json() == 1)
        #expect(ContinuousClock.now - start >= .milliseconds(30))
        let task = try session.get("never").resume()
        _ = try await task.stored()
        task.cancel()
        #expect(await failure { try await task.response() } == "cancelled cancelled")
    }

    @Test func `what the closure throws ends the request`() async throws {
        struct Own: Error, CustomStringConvertible { let description = "no such stub" }
        let session = try session(StubTransport { _ in throw Own() })
        let error = await #expect(throws: RequestError.self) { try await session.get("").response() }
        #expect(error?.summary == "request bad-request" && error?.description == "no such stub")
    }

    @Test func `responses and errors are made by tests`() throws {
        let head = WebResponse(url: try WebAddress("http://a/"), head: HTTPResponse(status: .ok))
        let response = RequestResponse(head, body: Array(#"{"name":"Ann"}"#.utf8), object: .json(["name": "Ann"]))
        #expect(try response.decoded(as: User.self).name == "Ann" && response.text == #"{"name":"Ann"}"#)
        let error = RequestError(
            kind: .destination, word: "connection-refused", description: "no", response: response,
            underlyingError: CancellationError())
        #expect(error.summary == "destination connection-refused" && error.underlyingError is CancellationError)
        #expect(TaskProgress(sent: 1, toSend: 2).fractionSent == 0.5)
    }
}

private enum ProjectText {
    static func at(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
