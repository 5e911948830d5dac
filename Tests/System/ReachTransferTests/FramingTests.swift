import ReachCore
import ReachTesting
import ReachTransfer
import Synchronization
import Testing

/// Connections with ambiguous framing: no other request goes over them.
struct FramingTests {
    /// A response, and whether its connection may be reused.
    struct Answer: Sendable, CustomStringConvertible {
        let description: String
        var method = "GET"
        let text: String
        var isReused = false
    }

    static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    static let stray = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"

    static let answers = [
        Answer(description: "one length", text: plain, isReused: true),
        Answer(
            description: "chunks", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
            isReused: true),
        Answer(description: "no body", text: "HTTP/1.1 204 No Content\r\n\r\n", isReused: true),
        Answer(
            description: "HEAD", method: "HEAD", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", isReused: true),
        Answer(
            description: "a length and chunks",
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        Answer(
            description: "the same length twice",
            text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
        Answer(description: "a folded line", text: "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok"),
        Answer(
            description: "HTTP/1.0, kept alive",
            text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
        Answer(description: "bytes behind the body", text: plain + stray),
        Answer(
            description: "bytes behind the last chunk",
            text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n" + stray),
        Answer(description: "bytes behind no body", text: "HTTP/1.1 204 No Content\r\n\r\n" + stray),
        Answer(
            description: "a body for HEAD", method: "HEAD",
            text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstray"),
    ]

    @Test(arguments: answers)
    func `after a response with an ambiguous end, the next request goes over a new connection`(
        answer: Answer
    ) async throws {
        let server = try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write(answer.text)
            while !connection.readRequest().isEmpty { connection.write(Self.plain) }
        }
        let stage = try TransferStage()
        let first = try await stage.run(try TransferRequest(answer.method, port: server.port))
        #expect(first.failure == nil, "\(String(describing: first.failure))")
        let second = try await stage.run(try TransferRequest(port: server.port))
        #expect(second.hops.first?.reusedConnection == answer.isReused)
    }

    @Test func `bytes that no request asked for are not the response to the next one`() async throws {
        let (done, severed) = (ThreadGate(), ThreadGate())
        let number = Mutex(0)
        let server = try ScriptedServer { connection in
            let isFirst = number.withLock { number in
                number += 1
                return number == 1
            }
            while !connection.readRequest().isEmpty {
                connection.write(Self.plain)
                guard isFirst else { continue }
                done.wait()
                connection.write(Self.stray)
                connection.waitForEnd()
                return severed.open()
            }
        }
        let stage = try TransferStage()
        #expect(try await stage.run(try TransferRequest(port: server.port)).body == Array("ok".utf8))
        done.open()
        severed.wait()
        let second = try await stage.run(try TransferRequest(port: server.port))
        #expect(second.body == Array("ok".utf8))
        #expect(second.hops.first?.reusedConnection == false)
    }

    @Test func `a response before the whole request was sent ends the connection`() async throws {
        let server = try ScriptedServer { connection in
            connection.waitForEnd()
            connection.write(Self.plain)
            while !connection.readRequest().isEmpty { connection.write(Self.plain) }
        }
        let stage = try TransferStage()
        var upload = try TransferRequest("PUT", port: server.port)
        upload.body = .bytes([UInt8](repeating: 1, count: 16 << 20))
        _ = try await stage.run(upload)
        let second = try await stage.run(try TransferRequest(port: server.port))
        #expect(second.hops.first?.reusedConnection == false)
    }
}
