import Foundation
import ReachSession
import ReachTesting
import Synchronization
import Testing

/// Downloads resumed from resume data, where the server does not send what is missing.
@Suite(.timeLimit(.minutes(1))) struct ResumeRangeTests {
    private static let whole = String(repeating: "0123456789", count: 10)

    /// A server that breaks off its first answer after four bytes.
    private final class BrokenServer: Sendable {
        let server: ScriptedServer

        /// - Parameters:
        ///   - part: The answer to each request for a range.
        ///   - whole: The answer to other requests, but for the first.
        init(_ part: String, whole: String) throws {
            let broken = Mutex(true)
            server = try ScriptedServer { connection in
                let request = connection.readRequest()
                guard !request.contains("\r\nRange: ") else {
                    connection.write(part)
                    return
                }
                let isFirst = broken.withLock { isFirst -> Bool in
                    defer { isFirst = false }
                    return isFirst
                }
                connection.write(
                    isFirst ? "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 100\r\n\r\n0123" : whole)
            }
        }

        func resumeData(_ path: String) async throws -> ResumeData {
            let task = try RequestSession().download("http://127.0.0.1:\(server.port)/", to: path)
            guard case .failure(let error) = await task.awaitedResult else { throw TestFailure("no error") }
            return try #require(error.resumeData)
        }
    }

    private static func part(_ fields: String, _ body: String) -> String {
        "HTTP/1.1 206 Part\r\n\(fields)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    private static let rest = String(whole.dropFirst(4))

    @Test(arguments: [
        "HTTP/1.1 416 No\r\nContent-Range: bytes */100\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 416 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        part("ETag: \"one\"\r\nContent-Range: bytes 0-99/100\r\n", whole),
        part("ETag: \"one\"\r\nContent-Range: bytes 30-99/100\r\n", String(whole.dropFirst(30))),
        part("ETag: \"one\"\r\nContent-Range: bytes 4-50/100\r\n", String(whole.dropFirst(4).prefix(47))),
        part("ETag: \"one\"\r\nContent-Range: bytes 4-99/100\r\n", String(whole.dropFirst(4).prefix(10))),
        part("ETag: \"two\"\r\nContent-Range: bytes 4-99/100\r\n", rest),
        part("ETag: \"one\"\r\n", rest),
        part(
            "ETag: \"one\"\r\nContent-Range: bytes 4-99/100\r\nContent-Type: multipart/byteranges; boundary=b\r\n", rest
        ),
        "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Range: bytes 4-99/100\r\nContent-Length: 96\r\n\r\n" + rest,
    ])
    func `what does not continue the file is followed by one request for the whole`(part: String) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/there"
        let broken = try BrokenServer(part, whole: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + Self.whole)
        let data = try await broken.resumeData(path)
        #expect(data.offset == 4)
        let session = try RequestSession()
        var options = RequestOptions()
        options.retries = .never
        let task = try session.download(resuming: data, options: options)
        let response = try await task.response()
        #expect(response.path == path && (try? String(contentsOfFile: path, encoding: .utf8)) == Self.whole)
        let requests = broken.server.requests.values
        #expect(requests.map { $0.contains("\r\nRange: ") } == [false, true, false])
        #expect(task.metrics.attempts == 1 && task.metrics.exchanges.count == 2)
    }

    @Test func `where the whole is not sent either, the download ends with an error and no third request`() async throws
    {
        let directory = try TemporaryDirectory()
        let broken = try BrokenServer(
            "HTTP/1.1 416 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            whole: "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        let data = try await broken.resumeData(directory.path + "/there")
        let session = try RequestSession()
        #expect(await failure { try await session.download(resuming: data).response() } == "response bad-status")
        #expect(broken.server.requests.values.count == 3)
    }

    @Test func `a range that continues the file is all that is asked for`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/there"
        let broken = try BrokenServer(
            Self.part("ETag: \"one\"\r\nContent-Range: bytes 4-99/100\r\n", Self.rest), whole: "")
        let data = try await broken.resumeData(path)
        try await RequestSession().download(resuming: data).response()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.whole)
        #expect(broken.server.requests.values.count == 2)
    }
}
