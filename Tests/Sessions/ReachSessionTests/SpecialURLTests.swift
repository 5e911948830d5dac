import ReachCore
import ReachSession
import ReachTesting
import Testing

/// URLs with a name and a password, with addresses in several spellings, and those of servers that browsers forgive.
@Suite(.timeLimit(.minutes(1))) struct SpecialURLTests {
    @Test func `a name and a password in a URL are sent as Basic, and shown nowhere`() async throws {
        let stage = try SessionStage()
        let root = "127.0.0.1:\(stage.server.port)"
        // an n:p@s/s
        let task = try stage.session.get("http://an%20n:p%40s%2fs@\(root)/x?a=b")
        #expect("\(task.originalRequest.url)" == "http://\(root)/x?a=b")
        let response = try await task.response()
        #expect(response.url.userInformation == nil && !"\(task)".contains("p%40s"))
        #expect(stage.server.requests.values.last?.contains("Authorization: Basic YW4gbjpwQHMvcw==\r\n") == true)
        // A header of the request's own is meant more than the URL.
        try await stage.session.get("http://ann@\(root)/", headers: [.authorization: "Bearer t"]).response()
        let sent = try #require(stage.server.requests.values.last)
        #expect(sent.contains("Authorization: Bearer t\r\n") && !sent.contains("Basic"))
        for bad in ["http://a%3ab:c@\(root)/", "http://%ff:c@\(root)/"] {
            #expect(await failure { _ = try stage.session.get(bad) } == "request bad-url")
        }
    }

    @Test func `a base URL's name and password are for its server only`() async throws {
        let server = try ScriptedServer { $0.write(SessionStage.echo($0.readRequest())) }
        let other = try ScriptedServer { $0.write(SessionStage.echo($0.readRequest())) }
        let session = try RequestSession(baseURL: "http://ann:secret@127.0.0.1:\(server.port)/v1")
        #expect(session.reachability.target.description.contains("127.0.0.1"))
        try await session.get("x").response()
        #expect(server.requests.values.last?.contains("Authorization: Basic YW5uOnNlY3JldA==\r\n") == true)
        try await session.get("http://127.0.0.1:\(other.port)/").response()
        #expect(other.requests.values.last?.contains("Authorization") == false)
    }

    @Test func `a URL's credentials do not follow a redirect to another origin`() async throws {
        let other = try ScriptedServer { $0.write(SessionStage.echo($0.readRequest())) }
        let server = try ScriptedServer { connection in
            _ = connection.readRequest()
            connection.write(
                "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\(other.port)/\r\nContent-Length: 0\r\n\r\n")
        }
        try await RequestSession().get("http://ann:secret@127.0.0.1:\(server.port)/").response()
        #expect(server.requests.values.last?.contains("Authorization") == true)
        #expect(other.requests.values.last?.contains("Authorization") == false)
    }

    @Test(arguments: ["/100%", "/a?b=50%&c", "/%zz"])
    func `a redirect to a path with a percent sign that escapes nothing is followed`(path: String) async throws {
        let stage = try SessionStage(answer: { request in
            request.hasPrefix("GET /v1/x ")
                ? "HTTP/1.1 302 Found\r\nLocation: \(path)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                : SessionStage.echo(request)
        })
        let response = try await stage.session.get("x").response()
        #expect(response.url.requestTarget == path)
        #expect(stage.server.requests.values.last?.hasPrefix("GET \(path) HTTP/1.1\r\n") == true)
    }

    @Test func `an IPv4 address in the form of IPv6 is reached`() async throws {
        let stage = try SessionStage()
        let response = try await stage.session.get("http://[::ffff:127.0.0.1]:\(stage.server.port)/x").response()
        #expect(response.statusCode == 200)
    }

    @Test func `an IPv6 address has the same cookies in each of its spellings`() async throws {
        let server = try ScriptedServer(at: try #require(IPAddress("::1"))) { connection in
            let request = connection.readRequest()
            connection.write(
                SessionStage.answer("{}").replacing("Content-Type", with: "Set-Cookie: a=b\r\nContent-Type"))
            _ = request
        }
        let session = try RequestSession()
        try await session.get("http://[::1]:\(server.port)/").response()
        for spelling in ["[0:0:0:0:0:0:0:1]", "[::0001]", "[::1]"] {
            try await session.get("http://\(spelling):\(server.port)/").response()
            #expect(server.requests.values.last?.contains("Cookie: a=b\r\n") == true)
            #expect(session.cookies.cookies(for: try WebAddress("http://\(spelling)/")).map(\.domain) == ["::1"])
        }
        try await session.get("http://[0:0::1]:\(server.port)/").response()
        #expect(session.cookies.cookies.count == 1)
    }
}
