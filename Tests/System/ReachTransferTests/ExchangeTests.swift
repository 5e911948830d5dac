import ReachCore
import ReachTesting
import ReachTransfer
import Testing

/// Correct requests and responses, with servers of the tests' own.
struct ExchangeTests {
    @Test func `a response has its head, its body and its phases`() async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nX-One: 1\r\n\r\nhello")
        }
        let stage = try TransferStage()
        let log = stage.start(try TransferRequest(port: server.port, "/a?b"))
        let report = try await log.report()
        #expect(report.response?.status == 200)
        #expect(report.response?["x-one"] == "1")
        #expect(report.response?.contentLength == 5)
        #expect(report.body == Array("hello".utf8))
        #expect(log.heads.count == 1)
        let hop = try #require(report.hops.first)
        #expect(hop.phases.isMonotone)
        #expect(hop.phases.connected != nil)
        #expect(hop.phases.firstByte != nil)
        #expect(hop.remoteAddress?.description == "127.0.0.1")
        let request = try #require(server.requests.values.first)
        #expect(request.hasPrefix("GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
        #expect(!request.lowercased().contains("expect:"))
    }

    /// A handle keeps the parts of its last URL, and a request to the same server sets path and query only.
    @Test func `each request on a connection has its own path and query`() async throws {
        let server = try ScriptedServer { connection in
            while !connection.readRequest().isEmpty {
                connection.write("HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let stage = try TransferStage()
        let targets = [
            "/", "/a?b", "/a", "/a/b/c?d=e&f", "/?n=1", "/%41%c3%A4?%2f", "/a?", "/x.y?z=.", "/?n=2", "/", "/b?c?d/e",
            "/~tilde_-", "/a//b", "/!$'()*+,;:@?!$", "/last?q=1",
        ]
        for target in targets {
            let report = try await stage.run(try TransferRequest(port: server.port, target))
            #expect(report.response?.status == 200, "\(target)")
        }
        let sent = server.requests.values.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        // Newer versions of libcurl leave an empty query out.
        #expect(sent == targets || sent == targets.map { $0 == "/a?" ? "/a" : $0 })
        #expect(server.requests.values.allSatisfy { $0.contains("\r\nHost: 127.0.0.1:\(server.port)\r\n") })
    }

    /// The second request on a connection ends it: libcurl sends that request again on a new one.
    @Test(
        arguments: [("POST", false, 1), ("PATCH", false, 1), ("GET", false, 2), ("POST", true, 2), ("PATCH", true, 2)],
        [false, true])
    func `what may not arrive twice is sent once, also on a connection that ends before the answer`(
        row: (method: String, hasOwnKey: Bool, count: Int), hasBody: Bool
    ) async throws {
        let server = try ScriptedServer { connection in
            guard connection.readRequest().hasPrefix("HEAD") else { return }
            connection.write("HTTP/1.1 200 Fine\r\n\r\n")
            _ = connection.readRequest()
        }
        let stage = try TransferStage()
        _ = try await stage.run(try TransferRequest("HEAD", port: server.port))
        var request = try TransferRequest(row.method, port: server.port)
        // Without a key a request that may not arrive twice gets a connection of its own.
        request.headers = [HeaderField("Idempotency-Key", "k1")]
        request.hasOwnKey = row.hasOwnKey
        if hasBody { request.body = .bytes(Array("once".utf8)) }
        let report = try await stage.run(request)
        let arrived = server.requests.values.filter { $0.hasPrefix(row.method) }
        #expect(arrived.allSatisfy { $0.hasSuffix("\r\n\r\n" + (hasBody ? "once" : "")) })
        #expect(arrived.count == row.count && report.hops.first?.phases.requestStarted != nil)
        #expect(report.failure?.kind == .destination)
        if row.count == 1 { #expect(report.failure?.message.hasSuffix("the request may have arrived") == true) }
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func `a body from memory is sent with its length`(method: String) async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n")
        }
        let stage = try TransferStage()
        var request = try TransferRequest(method, port: server.port)
        request.body = .bytes(Array("some text".utf8))
        request.headers = [HeaderField("Content-Type", "text/plain"), HeaderField("X-Empty", "")]
        let report = try await stage.run(request)
        #expect(report.response?.status == 201)
        #expect(report.sentBytes == 9)
        let sent = try #require(server.requests.values.first)
        #expect(sent.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(sent.contains("\r\nContent-Length: 9\r\n"))
        #expect(sent.contains("\r\nContent-Type: text/plain\r\n"))
        #expect(sent.contains("\r\nX-Empty:\r\n"))
        #expect(sent.hasSuffix("\r\n\r\nsome text"))
    }

    @Test(arguments: ["POST", "GET", "HEAD", "DELETE", "OPTIONS"])
    func `a request without a body is complete`(method: String) async throws {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 204 None\r\n\r\n")
        }
        let report = try await TransferStage().run(try TransferRequest(method, port: server.port))
        #expect(report.response?.status == 204)
        let sent = try #require(server.requests.values.first)
        #expect(sent.hasPrefix("\(method) / HTTP/1.1\r\n"))
        #expect(sent.contains("Content-Length: 0\r\n") == (method == "POST"))
        #expect(!sent.contains("Content-Type"))
        #expect(!sent.contains("chunked"))
    }
}
