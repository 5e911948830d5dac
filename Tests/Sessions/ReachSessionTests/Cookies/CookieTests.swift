import Glibc
import ReachCore
import ReachSerialization
import ReachSession
import ReachTesting
import Testing

/// Cookies between sessions and real servers.
@Suite(.timeLimit(.minutes(1))) struct CookieTests {
    /// Answers `/set?FIELD` with that cookie, `/go?URL` with a redirect, and anything else with an empty object.
    private static let answer: @Sendable (String) -> String = { request in
        let target = request.split(separator: " ").dropFirst().first ?? ""
        let argument = target.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
        let text = argument.replacing("%20", with: " ")
        if target.contains("/set?") {
            return "HTTP/1.1 200 OK\r\nSet-Cookie: \(text)\r\nset-cookie: second=2; Path=/only\r\n"
                + "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
        }
        guard target.contains("/go?") else { return SessionStage.answer("{}") }
        return "HTTP/1.1 302 Found\r\nLocation: \(text)\r\nSet-Cookie: hop=1\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\r\n"
    }

    /// The Cookie fields of a request.
    private static func cookies(of request: String?) -> [String] {
        (request ?? "").split(separator: "\r\n").filter { $0.lowercased().hasPrefix("cookie:") }
            .map { String($0.dropFirst(8)) }
    }

    private func last(_ server: ScriptedServer) -> [String] { Self.cookies(of: server.requests.values.last) }

    @Test func `a server's cookies are sent with later requests, below their paths`() async throws {
        let stage = try SessionStage(answer: Self.answer)
        try await stage.session.get("/set?first=1").response()
        #expect(last(stage.server) == [])
        try await stage.session.get("/other").response()
        #expect(last(stage.server) == ["first=1"])
        try await stage.session.get("/only/x").response()
        #expect(last(stage.server) == ["second=2; first=1"])
    }

    @Test func `each hop of a redirect is sent the cookies of its own URL`() async throws {
        let other = try ScriptedServer(at: IPAddress(ipv4: 0x7f00_0002)) { connection in
            connection.write(Self.answer(connection.readRequest()))
        }
        let stage = try SessionStage(answer: Self.answer)
        let far = "http://127.0.0.2:\(other.port)"
        try await stage.session.get("/set?near=1").response()
        try await stage.session.get("\(far)/set?far=1").response()
        try await stage.session.get("/go?\(far)/go?\(stage.root)/end").response()
        #expect(stage.server.requests.values.dropFirst().map(Self.cookies) == [["near=1"], ["near=1; hop=1"]])
        #expect(other.requests.values.dropFirst().map(Self.cookies) == [["far=1"]])
    }

    @Test func `a Cookie header of the request's own is sent alone, and what the server sets is stored`() async throws {
        let stage = try SessionStage(answer: Self.answer)
        try await stage.session.get("/set?jar=1").response()
        try await stage.session.get("/set?more=2", headers: [.cookie: "own=3"]).response()
        #expect(last(stage.server) == ["own=3"])
        try await stage.session.get("/").response()
        #expect(last(stage.server) == ["jar=1; more=2"])
    }

    @Test func `two sessions share no cookie`() async throws {
        let stage = try SessionStage(answer: Self.answer)
        let other = try RequestSession(baseURL: stage.root)
        try await stage.session.get("/set?a=1").response()
        try await other.get("/").response()
        #expect(last(stage.server) == [])
    }

    @Test func `a session without cookies stores and sends none`() async throws {
        let stage = try SessionStage({ $0.cookies = .none }, answer: Self.answer)
        try await stage.session.get("/set?a=1").response()
        #expect(!stage.session.cookies.set(Cookie(name: "b", value: "1", domain: "127.0.0.1")))
        try await stage.session.get("/").response()
        #expect(last(stage.server) == [])
        #expect(stage.session.cookies.cookies == [])
    }

    @Test func `a program lists, sets and deletes cookies`() async throws {
        let stage = try SessionStage(answer: Self.answer)
        let (storage, url) = (stage.session.cookies, try WebAddress(stage.root + "/x"))
        try await stage.session.get("/set?a=1;%20HttpOnly").response()
        #expect(storage.set(Cookie(name: "b", value: "2", domain: "127.0.0.1", path: "/x")))
        #expect(storage.cookies(for: url).map(\.name) == ["b", "a"])
        #expect(storage.cookies.map(\.name) == ["a", "second", "b"])
        #expect(storage.cookies.first?.isHTTPOnly == true)
        try await stage.session.get("/x").response()
        #expect(last(stage.server) == ["b=2; a=1"])
        storage.delete(Cookie(name: "b", value: "", domain: "127.0.0.1", path: "/x"))
        #expect(storage.cookies(for: url).map(\.name) == ["a"])
        #expect(storage.set(Cookie(name: "c", value: "3", domain: "München.example")))
        for host in ["münchen.example", "xn--mnchen-3ya.example"] {
            #expect(try storage.cookies(for: WebAddress("http://\(host)/")).map(\.name) == ["c"])
        }
        #expect(!storage.set(Cookie(name: "c", value: "3", domain: "a℀b.example")))
        storage.deleteAll()
        #expect(storage.cookies == [])
    }

    @Test(arguments: [
        Cookie(name: "", value: "1", domain: "h"), Cookie(name: "a=b", value: "1", domain: "h"),
        Cookie(name: "a", value: "1; x=2", domain: "h"), Cookie(name: "a", value: "1\r\nX: y", domain: "h"),
        Cookie(name: "a", value: "1", domain: ""), Cookie(name: "a", value: "1", domain: "h", path: "x"),
    ])
    func `a cookie that cannot be sent as it is is refused`(cookie: Cookie) throws {
        #expect(try !RequestSession().cookies.set(cookie))
    }

    @Test func `a cookie that changes with each answer does not cost a connection each`() async throws {
        let connections = EventLog<Int>()
        let server = try ScriptedServer { connection in
            connections.append(1)
            while !connection.readRequest().isEmpty {
                connection.write(
                    "HTTP/1.1 200 OK\r\nSet-Cookie: n=\(UInt64.random(in: 0...UInt64.max))\r\n"
                        + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            }
        }
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/")
        for _ in 0..<4 { try await session.get("x").response() }
        #expect(Set(server.requests.values.flatMap(Self.cookies)).count == 3)
        #expect(connections.values.count == 1)
    }

    // MARK: - The file

    @Test func `cookies with an expiry outlive the session in a file that only its owner can read`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cookies"
        var options = RequestSessionOptions()
        options.cookies = .file(path)
        let server = try ScriptedServer { $0.write(Self.answer($0.readRequest())) }
        let url = "http://127.0.0.1:\(server.port)"
        let first = try RequestSession(options: options)
        try await first.get(url + "/set?kept=1;%20Max-Age=1000").response()
        try await first.get(url + "/set?lost=1").response()
        #expect(await first.closeAndWait())
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        let second = try RequestSession(options: options)
        #expect(second.cookies.cookies.map(\.name) == ["kept"])
        try await second.get(url + "/").response()
        #expect(last(server) == ["kept=1"])
        await second.closeAndWait()
    }

    @Test func `a program's cookie is in the file although the session sent nothing`() async throws {
        let directory = try TemporaryDirectory()
        var options = RequestSessionOptions()
        options.cookies = .file(directory.path + "/cookies")
        let cookie = Cookie(
            name: "a", value: "\"ü\\", domain: "example.org", path: "/x;y=1",
            expires: Timestamp("2199-01-01T00:00:00Z"),
            isSecure: true, isHTTPOnly: true, isHostOnly: false)
        let first = try RequestSession(options: options)
        #expect(first.cookies.set(cookie))
        await first.closeAndWait()
        let second = try RequestSession(options: options)
        #expect(second.cookies.cookies == [cookie])
        await second.closeAndWait()
    }

    @Test func `one session at a time has the file`() async throws {
        let directory = try TemporaryDirectory()
        var options = RequestSessionOptions()
        options.cookies = .file(directory.path + "/cookies")
        let first = try RequestSession(options: options)
        #expect(await failure { _ = try RequestSession(options: options) } == "not-taken in-use")
        withExtendedLifetime(first) {}
    }

    @Test func `lines of the file that are no cookies are left out`() async throws {
        let directory = try TemporaryDirectory()
        let good =
            #"{"name":"a","value":"1","domain":"h","path":"/","expires_ns":4000000000000000000,"#
            + #""secure":false,"http_only":false,"host_only":true}"#
        let path = try directory.file(
            "cookies", ["{", good, good.replacing(#""1""#, with: #""1\r\nX: y""#), "\u{0}", ""].joined(separator: "\n"))
        var options = RequestSessionOptions()
        options.cookies = .file(path)
        #expect(try RequestSession(options: options).cookies.cookies.map(\.name) == ["a"])
    }

    @Test func `a file that is a link is refused`() async throws {
        let directory = try TemporaryDirectory()
        #expect(symlink("/dev/null", directory.path + "/cookies") == 0)
        var options = RequestSessionOptions()
        options.cookies = .file(directory.path + "/cookies")
        #expect(await failure { _ = try RequestSession(options: options) } == "not-taken unusable")
    }
}
