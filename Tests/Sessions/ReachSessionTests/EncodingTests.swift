import Foundation
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Compressed answers.
@Suite(.timeLimit(.minutes(1))) struct EncodingTests {
    /// A server that answers with gzip where the request accepts it, and a session.
    private func stage(
        _ content: String, keeping: RequestSession.Keeping = .memory,
        _ change: (inout RequestSessionOptions) -> Void = { _ in }
    ) throws -> (server: ScriptedServer, session: RequestSession) {
        let directory = try TemporaryDirectory()
        _ = try ChildProcess.run(["sh", "-c", "\(content) > \(directory.path)/plain; gzip -k \(directory.path)/plain"])
        let plain = try Array(Data(contentsOf: URL(filePath: directory.path + "/plain")))
        let packed = try Array(Data(contentsOf: URL(filePath: directory.path + "/plain.gz")))
        let server = try ScriptedServer { connection in
            let accepts = connection.readRequest().contains("gzip")
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nETag: \"one\"\r\nConnection: close\r\n"
                    + (accepts ? "Content-Encoding: gzip\r\n" : "")
                    + "Content-Length: \((accepts ? packed : plain).count)\r\n\r\n")
            connection.write(accepts ? packed : plain)
        }
        var options = RequestSessionOptions()
        change(&options)
        let session = try RequestSession(
            keeping: keeping, baseURL: "http://127.0.0.1:\(server.port)/", options: options)
        return (server, session)
    }

    private func field(_ name: String, in request: String?) -> String? {
        request?.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }.map {
            String($0.dropFirst(name.count + 2))
        }
    }

    @Test(arguments: [false, true])
    func `an answer may be compressed, and is decoded`(onDisk: Bool) async throws {
        let directory = try TemporaryDirectory()
        let (server, session) = try stage(
            "printf '[%0300000d]' 0 | tr 0 1", keeping: onDisk ? .directory(directory.path + "/queue") : .memory
        ) {
            $0.responseSerializer = DataResponseSerializer()
        }
        let response = try await session.get("x").response()
        #expect(response.body.count == 300_002 && response.body.dropFirst().prefix(3) == [0x31, 0x31, 0x31])
        let accepted = try #require(field("Accept-Encoding", in: server.requests.values.last))
        #expect(accepted.contains("gzip") && accepted.contains("deflate"))
        #expect(server.requests.values.last?.components(separatedBy: "Accept-Encoding").count == 2)
        await session.closeAndWait()
    }

    @Test(arguments: ["UTF-8", "binary", "aws-chunked", "gzip, x-unknown"])
    func `a body in an encoding that no one knows is passed on as it came`(encoding: String) async throws {
        let server = try ScriptedServer { connection in
            for body in ["first", "second"] where !connection.readRequest().isEmpty {
                connection.write(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
            }
        }
        var options = RequestSessionOptions()
        options.responseSerializer = DataResponseSerializer()
        let session = try RequestSession(baseURL: "http://127.0.0.1:\(server.port)/", options: options)
        for body in ["first", "second"] {
            let response = try await session.get("x").response()
            #expect(response.body == Array(body.utf8))
            #expect(response.head.headerFields["Content-Encoding"] == encoding)
        }
    }

    @Test func `a body that is not in its encoding is an error, and a stored request is not repeated`() async throws {
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\nConnection: close\r\n\r\nplain")
        }
        let session = try RequestSession(keeping: .directory(directory.path + "/queue"))
        let task = try session.get("http://127.0.0.1:\(server.port)/")
        #expect(await failure { try await task.response() } == "response bad-encoding")
        #expect(server.requests.values.count == 1)
        await session.closeAndWait()
    }

    @Test func `the limit applies to the decoded bytes`() async throws {
        let (server, session) = try stage("head -c 50000000 /dev/zero") {
            $0.responseSerializer = DataResponseSerializer()
            $0.maximumAnswerBytes = 100_000
        }
        let outcome = await failure { try await session.get("x").response() }
        #expect(outcome == "response response-too-large")
        #expect(server.requests.values.count == 1)
    }

    @Test func `a caller's own Accept-Encoding is sent, and the bytes are returned as received`() async throws {
        let (server, session) = try stage("echo {}") { $0.responseSerializer = DataResponseSerializer() }
        let response = try await session.get("x", headers: ["Accept-Encoding": "gzip;q=0.5"]).response()
        #expect(response.body.prefix(2) == [0x1f, 0x8b])
        #expect(field("Accept-Encoding", in: server.requests.values.last) == "gzip;q=0.5")
    }

    @Test func `a download is not compressed, so that it can be resumed`() async throws {
        let directory = try TemporaryDirectory()
        let (server, session) = try stage("echo {}")
        try await session.download("x", to: directory.path + "/there").response()
        #expect(field("Accept-Encoding", in: server.requests.values.last) == "identity")
        #expect(try ChildProcess.run(["cat", directory.path + "/there"]) == "{}\n")
    }
}
