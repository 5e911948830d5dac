import Glibc
import ReachCore
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachTransfer

/// Compressed responses that are longer than the limit once they are decoded.
struct DecodedLimitTests {
    /// 80 MiB of zeros, as gzip compresses them.
    private static let zeros = Result {
        let files = try TemporaryDirectory()
        _ = try ChildProcess.run(["sh", "-c", "head -c 83886080 /dev/zero | gzip -9 > \(files.path)/zeros"])
        let file = try #require(fopen(files.path + "/zeros", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    @Test(arguments: [1 << 20, 64 << 20] as [UInt64], [ResponseLimit.Action.fail, .stop])
    func `a compressed response beyond the limit ends at once`(limit: UInt64, action: ResponseLimit.Action) async throws
    {
        let bytes = try Self.zeros.get()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.write(bytes)
            connection.waitForEnd()
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        request.limit = ResponseLimit(bodyBytes: limit, action: action)
        request.sink = .none
        request.timeouts.idle = .seconds(30)
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == (action == .fail ? .responseTooLarge : nil))
        #expect(report.isCut == (action == .stop))
        #expect(report.receivedBytes == limit)
    }

    @Test func `a response that unpacks to more than libcurl keeps is read to its end, though its reader is slow`()
        async throws
    {
        let bytes = try Self.zeros.get()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.write(bytes)
            connection.waitForEnd()
        }
        let files = try TemporaryDirectory()
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        request.limit.bodyBytes = 1 << 30
        request.sink = .file(FileSink(path: files.path + "/body"))
        let report = try await TransferStage().run(request)
        #expect(report.failure == nil)
        #expect(report.receivedBytes == 80 << 20)
    }
}
