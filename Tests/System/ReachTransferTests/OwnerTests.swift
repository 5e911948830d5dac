import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachTransfer

/// Owners share nothing that a server, or one of them, could use against the other.
struct OwnerTests {
    private static let answer =
        "HTTP/1.1 200 OK\r\nSet-Cookie: session=secret; Path=/\r\n"
        + "Strict-Transport-Security: max-age=1000\r\nAlt-Svc: h2=\":1\"\r\nContent-Length: 2\r\n\r\nok"

    private static func server() throws -> ScriptedServer {
        try ScriptedServer { connection in
            while !connection.readRequest().isEmpty { connection.write(answer) }
        }
    }

    private func request(_ owner: ConnectionOwner, _ server: ScriptedServer) throws -> TransferRequest {
        var request = try TransferRequest(port: server.port)
        request.owner = owner
        return request
    }

    @Test func `two users share no connection, and each keeps its own`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        let owners: [ConnectionOwner] = [
            .user(1), .user(2), .user(1), .user(2), .probes, .validation, .program, .probes,
        ]
        var reused: [Bool] = []
        for owner in owners {
            let report = try await stage.run(try request(owner, server))
            reused.append(report.hops.first?.reusedConnection ?? false)
        }
        #expect(reused == [false, false, true, true, false, false, false, true])
    }

    @Test func `more owners than pools still have connections of their own`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        for owner in 1...80 as ClosedRange<UInt32> {
            let report = try await stage.run(try request(.user(owner), server))
            #expect(report.hops.first?.reusedConnection == false)
        }
        #expect(try await stage.run(try request(.user(80), server)).hops.first?.reusedConnection == true)
    }

    @Test func `cookies and policies that one response sets appear in no other request`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        for owner in [1, 1, 2] as [UInt32] { _ = try await stage.run(try request(.user(owner), server)) }
        let requests = server.requests.values
        #expect(requests.count == 3)
        #expect(requests.allSatisfy { !$0.lowercased().contains("cookie") && !$0.contains("secret") })
    }

    @Test func `a user name and password in a URL have connections of their own, and stay with it`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        var reused: [Bool] = []
        for credentials in ["a:one@", "a:two@", "", "a:one@"] {
            let url = try TransferURL("http://\(credentials)127.0.0.1:\(server.port)/")
            reused.append(try await stage.run(TransferRequest(url: url)).hops.first?.reusedConnection ?? false)
        }
        #expect(reused == [false, false, false, true])
        let has = server.requests.values.map { $0.contains("Authorization: Basic") }
        #expect(has == [true, true, false, true])
    }

    @Test func `requests with different credentials share no connection, those with the same ones do`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        let headers: [[HeaderField]] = [
            [], [HeaderField("Authorization", "Bearer 1")], [HeaderField("Authorization", "Bearer 2")],
            [HeaderField("Cookie", "a=1")], [HeaderField("Cookie", "a=2")],
            [HeaderField("Cookie", "a=1"), HeaderField("Authorization", "Bearer 1")],
            [HeaderField("Accept", "*/*"), HeaderField("X-Cookie-Law", "obeyed")],
        ]
        var request = try request(.user(1), server)
        var reused: [[Bool]] = []
        for _ in 0..<2 {
            var round: [Bool] = []
            for fields in headers {
                request.headers = fields
                round.append(try await stage.run(request).hops.first?.reusedConnection ?? false)
            }
            reused.append(round)
        }
        // What is no credential makes no difference.
        #expect(reused[0] == [false, false, false, false, false, false, true])
        #expect(reused[1] == Array(repeating: true, count: headers.count))
        // A header's name has no case.
        request.headers = [HeaderField("AUTHORIZATION", "Bearer 1")]
        #expect(try await stage.run(request).hops.first?.reusedConnection == true)
    }

    @Test(arguments: ["NTLM TlRMTVNTUAAB", "negotiate YII=", "Kerberos x"])
    func `a request that authenticates its connection has it alone`(authorization: String) async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        var request = try request(.user(1), server)
        for headers in [[], [HeaderField("authorization", authorization)], [], []] {
            request.headers = headers
            let report = try await stage.run(request)
            let isReused = headers.isEmpty && server.requests.values.count > 1
            #expect(report.hops.first?.reusedConnection == isReused)
        }
    }

    @Test(arguments: [
        ("Content-Length", "3"), ("content-length", ""), ("Transfer-Encoding", "xchunked"), ("Connection", "close"),
        ("TE", "trailers"), ("Expect", "100-continue"), ("Proxy-Authorization", "Basic x"), ("Host", "a b"),
        ("X", "a\u{1}"), ("X", "a\r\nContent-Length: 3"),
    ])
    func `header fields that could begin another request are never sent`(name: String, value: String) async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        var smuggler = try TransferRequest("PUT", port: server.port)
        smuggler.owner = .user(1)
        smuggler.headers = [HeaderField(name, value)]
        smuggler.body = .bytes(Array("abcGET /theirs HTTP/1.1\r\nX-Swallow: ".utf8))
        let report = try await stage.run(smuggler)
        #expect(report.failure?.reason == .badRequest)
        #expect(report.failure?.message.contains(name) == true)
        #expect(server.requests.values.isEmpty)
        let other = try await stage.run(try request(.user(2), server))
        #expect(other.response?.status == 200 && server.requests.values.count == 1)
    }

    @Test func `a body has the announced length, whatever it looks like`() async throws {
        let server = try Self.server()
        let stage = try TransferStage()
        let body = "abcGET /theirs HTTP/1.1\r\nHost: a\r\n\r\n"
        var smuggler = try TransferRequest("PUT", port: server.port)
        smuggler.owner = .user(1)
        smuggler.body = .bytes(Array(body.utf8))
        _ = try await stage.run(smuggler)
        _ = try await stage.run(try request(.user(2), server))
        let requests = server.requests.values
        #expect(requests.count == 2 && requests[0].hasSuffix(body))
        #expect(requests[0].contains("Content-Length: \(body.utf8.count)\r\n"))
        #expect(requests[1].hasPrefix("GET / HTTP/1.1\r\n"))
    }
}
