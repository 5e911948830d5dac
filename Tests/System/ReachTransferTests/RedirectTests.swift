import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Redirects.
struct RedirectTests {
    /// A server that answers by the path of the request: `/to?URL` redirects there, `/chain/N` down to `/chain/0`.
    static func server(status: Int = 302) throws -> ScriptedServer {
        try ScriptedServer { connection in
            while true {
                let request = connection.readRequest()
                guard let path = request.split(separator: " ").dropFirst().first.map(String.init) else { return }
                var location: String?
                if path.hasPrefix("/to?") { location = String(path.dropFirst(4)) }
                if path == "/loop" { location = "/loop" }
                if path.hasPrefix("/chain/"), let left = Int(path.dropFirst(7)), left > 0 {
                    location = "/chain/\(left - 1)"
                }
                if let location {
                    connection.write(
                        "HTTP/1.1 \(status) Moved\r\nLocation: \(location)\r\nContent-Length: 4\r\n\r\nmore")
                } else {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    private func result(_ server: ScriptedServer, _ path: String, limit: Int = 20) async throws -> TransferReport {
        var request = try TransferRequest(port: server.port, path)
        request.redirects = .follow(limit: limit)
        return try await TransferStage().run(request)
    }

    @Test func `a chain is followed over one connection, and each hop is reported`() async throws {
        let server = try Self.server()
        let report = try await result(server, "/chain/3")
        #expect(report.response?.status == 200)
        #expect(report.body == Array("ok".utf8))
        #expect(report.hops.map(\.status) == [302, 302, 302, 200])
        #expect(report.hops.map(\.reusedConnection) == [false, true, true, true])
        #expect(report.hops.allSatisfy { $0.phases.isMonotone && $0.phases.finished != nil })
    }

    @Test func `20 redirects are followed and 21 are too many, as is a loop`() async throws {
        let server = try Self.server()
        #expect(try await result(server, "/chain/20").response?.status == 200)
        for path in ["/chain/21", "/loop"] {
            let report = try await result(server, path)
            #expect(report.failure?.reason == .tooManyRedirects)
            #expect(report.failure?.curlCode == 47)
            #expect(report.failure?.kind == .request)
        }
    }

    @Test(arguments: ["file:///etc/passwd", "gopher://127.0.0.1/", "ftp://127.0.0.1/", "dict://127.0.0.1/"])
    func `only redirects to http and https are followed`(target: String) async throws {
        let server = try Self.server()
        let report = try await result(server, "/to?\(target)")
        #expect(report.failure?.reason == .unsupportedProtocol)
        #expect(report.failure?.curlCode == 1)
    }

    @Test(arguments: ["/" + String(repeating: "a", count: 20_000), String(repeating: "../", count: 6000)])
    func `a redirect to a longer URL than servers accept is not followed`(location: String) throws {
        let request = try TransferRequest(port: 80, "/")
        let failure = #expect(throws: TransferFailure.self) { try request.redirect(to: location, status: 302) }
        #expect(failure?.reason == .badRequest)
        #expect(failure?.message == "redirect to a URL of more than 16384 bytes")
    }

    @Test func `redirects that make the path longer each time end`() throws {
        var request = try TransferRequest(port: 80, "/a/")
        var hops = 0
        let failure = #expect(throws: TransferFailure.self) {
            while hops < 100 {
                request.follow(try request.redirect(to: String(repeating: "b/", count: 1000), status: 302))
                hops += 1
            }
        }
        #expect(failure?.reason == .badRequest)
        #expect(hops == 8)
    }

    @Test func `a URL that cannot be read is quoted in part`() throws {
        let request = try TransferRequest(port: 80, "/")
        let failure = #expect(throws: TransferFailure.self) {
            try request.redirect(to: "//" + String(repeating: "u:", count: 5000), status: 302)
        }
        #expect(failure.map { $0.message.utf8.count < 400 } == true)
    }

    @Test func `without a policy a redirect is a response`() async throws {
        let server = try Self.server()
        let report = try await TransferStage().run(try TransferRequest(port: server.port, "/to?/"))
        #expect(report.response?.status == 302)
        #expect(report.response?["Location"] == "/")
        #expect(report.body == Array("more".utf8))
    }

    @Test func `the handler decides about each redirect, and may refuse`() async throws {
        let server = try Self.server()
        let asked = EventLog<Redirect>()
        var request = try TransferRequest(port: server.port, "/chain/5")
        request.redirects = .follow(limit: 20)
        let report = try await TransferStage().run(request) { redirect in
            asked.append(redirect)
            return asked.values.count < 3
        }
        #expect(report.failure?.reason == .redirectRefused)
        #expect(asked.values.map(\.to.description.last) == ["4", "3", "2"])
        #expect(server.requests.values.count == 3)
    }

    @Test(arguments: [
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"), (308, "PUT", "PUT"),
        (303, "HEAD", "HEAD"), (302, "PUT", "PUT"),
    ])
    func `the next method is the one of RFC 9110, and a method that stays keeps the body`(
        status: Int, method: String, next: String
    ) async throws {
        let server = try Self.server(status: status)
        var request = try TransferRequest(method, port: server.port, "/to?/x")
        request.redirects = .follow(limit: 1)
        request.headers = [HeaderField("Content-Type", "text/plain")]
        if method != "HEAD" { request.body = .bytes(Array("body".utf8)) }
        let report = try await TransferStage().run(request)
        #expect(report.failure == nil)
        let second = try #require(server.requests.values.last)
        #expect(second.hasPrefix("\(next) /x "))
        #expect(second.hasSuffix("\r\n\r\nbody") == (next == method && method != "HEAD"))
        #expect(second.contains("Content-Type") == (next == method))
    }

    @Test func `secrets are sent only to the origin that they were meant for`() async throws {
        let other = try Self.server()
        let server = try Self.server()
        let stage = try TransferStage()
        var request = try TransferRequest(port: server.port, "/to?http://127.0.0.1:\(other.port)/")
        request.redirects = .follow(limit: 3)
        request.headers = [
            HeaderField("Authorization", "Bearer x"), HeaderField("cookie", "a=b"), HeaderField("X-Kept", "1"),
            HeaderField("X-Api-Key", "secret"), HeaderField("PRIVATE-TOKEN", "secret"), HeaderField("X-Pass", "secret"),
            HeaderField("X-Jwt-Assertion", "secret"), HeaderField("Referer", "http://a.example/?key=secret"),
        ]
        #expect(try await stage.run(request).failure == nil)
        let first = try #require(server.requests.values.first)
        let second = try #require(other.requests.values.first)
        #expect(first.contains("Bearer x") && first.contains("a=b") && first.contains("X-Api-Key: secret"))
        #expect(
            !second.contains("Bearer x") && !second.contains("secret") && !second.contains("a=b")
                && second.contains("X-Kept: 1"))
    }

    @Test(arguments: ["Content-Length: 9000", "Transfer-Encoding: chunked", "X: y"])
    func `a redirect whose body does not end is followed`(field: String) async throws {
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            guard request.hasPrefix("GET / ") else {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return
            }
            connection.write("HTTP/1.1 302 Moved\r\nLocation: /next\r\n\(field)\r\n\r\n5\r\nmoved\r\n")
            // Until the other side ends it.
            _ = connection.readRequest()
        }
        let report = try await result(server, "/")
        #expect(report.response?.status == 200 && report.hops.count == 2)
    }

    @Test func `a redirect's endless body is not read to its end`() async throws {
        let server = try ScriptedServer { connection in
            let request = connection.readRequest()
            guard request.hasPrefix("GET / ") else {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return
            }
            connection.write("HTTP/1.1 302 Moved\r\nLocation: /next\r\n\r\n")
            while connection.write(String(repeating: "x", count: 65536)) {}
        }
        let report = try await result(server, "/")
        #expect(report.response?.status == 200)
    }
}
