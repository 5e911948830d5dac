import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachTransfer

/// Compressed responses that are longer than the limit once they are decoded.
struct DecodedLimitTests {
    /// 80 MiB of zeros in an encoding.
    enum Bomb: String, CaseIterable {
        case gzip, br, zstd

        func bytes() throws -> [UInt8] {
            switch self {
            case .gzip: try Self.zeros.get()
            // What the reference encoder makes of them: one byte for more than a million.
            case .br:
                [
                    0xcf, 0xff, 0xff, 0x7f, 0x00, 0x24, 0x00, 0xe2, 0xb1, 0x40, 0x72, 0xef, 0xff, 0xf9, 0xff, 0xff,
                    0x0f,
                    0x80, 0x04, 0x40, 0x1c, 0x16, 0x80, 0xee, 0xfd, 0x3f, 0xff, 0xff, 0xff, 0x01, 0x90, 0x00, 0x88,
                    0xc3, 0x02,
                    0xd0, 0xbd, 0xff, 0xe7, 0xff, 0xff, 0x3f, 0x00, 0x12, 0x00, 0x71, 0x58, 0x00, 0xba, 0xf7, 0xff,
                    0xf9, 0xff,
                    0xff, 0x0f, 0x40, 0x02, 0x20, 0x0e, 0x0b, 0x40, 0xf7, 0xfe, 0x1f,
                ]
            // A frame with a window of 8 MiB, and blocks of 128 KiB that repeat one byte (RFC 8878, 3.1.1).
            case .zstd:
                [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68]
                    + (1...640).flatMap { [$0 == 640 ? 0x03 : 0x02, 0x00, 0x10, 0x00] as [UInt8] }
            }
        }

        private static let zeros = Result {
            let files = try TemporaryDirectory()
            _ = try ChildProcess.run(["sh", "-c", "head -c 83886080 /dev/zero | gzip -9 > \(files.path)/zeros"])
            return try read(files.path + "/zeros")
        }

        static func read(_ path: String) throws -> [UInt8] {
            let file = try #require(fopen(path, "r"))
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = fread(&bytes, 1, bytes.count, file)
            return Array(bytes[..<count])
        }

        /// Whether its library is here.
        var isKnown: Bool { ContentDecoder.encodings.contains(rawValue) }
    }

    private func report(_ encoding: String, _ bytes: [UInt8], _ limit: ResponseLimit) async throws -> TransferReport {
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(encoding)\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.write(bytes)
            connection.waitForEnd()
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        request.limit = limit
        request.sink = .none
        request.timeouts.idle = .seconds(30)
        return try await TransferStage().run(request)
    }

    @Test(arguments: Bomb.allCases.filter(\.isKnown), [ResponseLimit.Action.fail, .stop])
    func `a compressed response beyond the limit ends at once`(bomb: Bomb, action: ResponseLimit.Action) async throws {
        let report = try await report(bomb.rawValue, bomb.bytes(), ResponseLimit(bodyBytes: 1 << 20, action: action))
        #expect(report.failure?.reason == (action == .fail ? .responseTooLarge : nil))
        #expect(report.isCut == (action == .stop))
        #expect(report.receivedBytes == 1 << 20)
    }

    @Test(arguments: Bomb.allCases.filter(\.isKnown))
    func `a response that grows a thousandfold is read up to the limit, and delays nothing`(bomb: Bomb) async throws {
        let bytes = try bomb.bytes()
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(bomb.rawValue)\r\nContent-Length: \(bytes.count)\r\n\r\n")
            connection.write(bytes)
            connection.waitForEnd()
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        request.limit = ResponseLimit(bodyBytes: 64 << 20)
        request.sink = .none
        let stage = try TransferStage()
        let turns = await stage.ask { $0.loop.turn }
        let logs = (0..<4).map { _ in stage.start(request) }
        for log in logs {
            let report = try await log.report()
            #expect(report.failure?.reason == .responseTooLarge)
            #expect(report.receivedBytes == 64 << 20)
        }
        // 2 MiB a turn, of all together. libcurl's decoders take few turns, of 16 MiB or more.
        #expect(await stage.ask { $0.loop.turn } - turns >= 4 * 64 / 2)
    }

    @Test func `what any encoder makes of much is complete`() async throws {
        let files = try TemporaryDirectory()
        _ = try ChildProcess.run(["sh", "-c", "head -c 33554432 /dev/zero | gzip -9 > \(files.path)/zeros"])
        let zeros = try #require(try? Bomb.read(files.path + "/zeros"))
        for limit in [64 << 20, 1 << 30] as [UInt64] {
            let report = try await report("gzip", zeros, ResponseLimit(bodyBytes: limit))
            #expect(report.failure == nil)
            #expect(report.receivedBytes == 32 << 20)
        }
    }

    @Test func `a response that unpacks to much is read to its end, though its reader is slow`()
        async throws
    {
        let bytes = try Bomb.gzip.bytes()
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
