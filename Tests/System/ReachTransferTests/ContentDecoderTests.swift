import Glibc
import ReachTesting
import Testing

@testable import ReachTransfer

/// Bodies in the encodings of HTTP, decoded a piece at a time.
struct ContentDecoderTests {
    /// What is encoded, and its forms.
    private static let text = Array(String(repeating: "The quick brown fox. ", count: 500).utf8)

    /// Made by gzip(1), zlib and zstd(1); brotli's is its reference encoder's.
    private static func encoded(by command: String) throws -> [UInt8] {
        let files = try TemporaryDirectory()
        let source = "for n in $(seq 500); do printf 'The quick brown fox. '; done"
        _ = try ChildProcess.run(["sh", "-c", "(\(source)) | \(command) > \(files.path)/it"])
        let file = try #require(fopen(files.path + "/it", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }

    private static let deflated =
        "python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))'"
    private static let raw =
        "python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read())[2:-4])'"

    /// The body that a decoder makes of pieces of a size; `nil` if it is damaged.
    private func decode(
        _ bytes: [UInt8], _ field: String, pieces: Int, space: Int = 1000
    ) throws -> (body: [UInt8], isTruncated: Bool)? {
        let decoder = try #require(ContentDecoder(field))
        var body: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            Array(rest.prefix(pieces)).withUnsafeBytes { decoder.append($0) }
            rest = rest.dropFirst(pieces)
            while decoder.hasMore {
                var count: Int?
                let piece = [UInt8](unsafeUninitializedCapacity: space) { buffer, initialized in
                    count = decoder.next(into: UnsafeMutableRawBufferPointer(buffer))
                    initialized = count ?? 0
                }
                guard count != nil else { return nil }
                body += piece
            }
        }
        return (body, decoder.isTruncated)
    }

    @Test(arguments: [1, 7, 100_000], [50, 1000, 65536])
    func `what is decoded depends neither on pieces nor on space`(pieces: Int, space: Int) throws {
        let gzip = try Self.encoded(by: "gzip -c")
        let forms = [
            ("gzip", gzip, 1), ("x-gzip", gzip, 1), ("GZIP", gzip, 1), ("identity, gzip", gzip, 1),
            ("gzip", gzip + gzip, 2),
            ("gzip", gzip + [10, 31, 0], 1), ("deflate", try Self.encoded(by: Self.deflated), 1),
            ("deflate", try Self.encoded(by: Self.raw), 1), ("deflate", gzip, 1),
            ("gzip, gzip", try Self.encoded(by: "gzip -c | gzip -c"), 1),
            ("deflate, identity, x-gzip", try Self.encoded(by: Self.deflated + " | gzip -c"), 1),
        ]
        for (field, bytes, times) in forms {
            let result = try decode(bytes, field, pieces: pieces, space: space)
            #expect(result?.body == Array(repeating: Self.text, count: times).flatMap(\.self), "\(field)")
            #expect(result?.isTruncated == false, "\(field)")
        }
    }

    @Test func `an encoding that is not known, and too many of them, are passed on as they came`() {
        let many = Array(repeating: "gzip", count: 6).joined(separator: ",")
        for field in ["", "identity", "aws-chunked", "gzip, aws-chunked", "UTF-8", many, "gzip;q=1", "e\u{301}gzip"] {
            #expect(ContentDecoder(field) == nil, "\(field)")
        }
    }

    @Test(arguments: [0, 1, 10, 60])
    func `a body that ends too early is truncated, and no body is none`(count: Int) throws {
        let gzip = try Self.encoded(by: "gzip -c")
        #expect(try decode(Array(gzip.prefix(count)), "gzip", pieces: 16)?.isTruncated == (count > 0))
        #expect(try decode(Array(gzip.dropLast(1)), "gzip", pieces: 16)?.isTruncated == true)
    }

    @Test func `a body in another encoding, and a wrong sum, are damaged`() throws {
        var gzip = try Self.encoded(by: "gzip -c")
        gzip[gzip.count - 6] ^= 1
        #expect(try decode(gzip, "gzip", pieces: 100) == nil)
        for field in ["gzip", "deflate"] { #expect(try decode(Array("plain text".utf8), field, pieces: 3) == nil) }
    }

    /// Libzstd reads the formats before RFC 8878, too, some of them by pieces only.
    @Test(.enabled(if: ContentDecoder.encodings.contains("zstd"), "libzstd is missing"), arguments: [1, 3, 100])
    func `zstd is frames of the RFC and what may stand between them, and no older format`(pieces: Int) throws {
        let content: [UInt8] = [0x20, 3, 0x19, 0, 0] + Array("abc".utf8)
        let frame = [0x28, 0xb5, 0x2f, 0xfd] + content
        let skipped: [UInt8] = [0x5a, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]
        for (bytes, times) in [(frame, 1), (skipped + frame + frame, 2), (frame + skipped + frame, 2)] {
            let result = try decode(bytes, "zstd", pieces: pieces)
            #expect(result?.body == Array(repeating: Array("abc".utf8), count: times).flatMap(\.self))
        }
        for first in 0x21...0x27 as ClosedRange<UInt8> {
            #expect(try decode([first, 0xb5, 0x2f, 0xfd] + content, "zstd", pieces: pieces) == nil, "\(first)")
        }
        // A frame of version 0.6, which the library reads in pieces.
        let old: [UInt8] = [0x26, 0xb5, 0x2f, 0xfd, 0, 0x68, 2, 0, 0x10, 0, 3, 0x6a, 0x75, 0x6e, 0, 0x10, 0x23]
        #expect(try decode(old, "zstd", pieces: pieces) == nil)
        for place in 1...3 {
            var other = skipped
            other[place] ^= 1
            #expect(try decode(other + frame, "zstd", pieces: pieces) == nil, "\(place)")
        }
    }

    @Test(arguments: [("Content-Length: ", "\r\n\r\n"), ("Connection: close\r\nX: ", "\r\n\r\n")])
    func `half of a compressed body is no success`(begin: String, end: String) async throws {
        let gzip = Array(try Self.encoded(by: "gzip -c").dropLast(20))
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(begin)\(gzip.count)\(end)")
            connection.write(gzip)
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == .truncated)
        #expect(report.failure?.curlCode == 18)
    }

    @Test func `a compressed body in chunks of one byte is whole`() async throws {
        let gzip = try Self.encoded(by: "gzip -c")
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
            connection.write(gzip.flatMap { Array("1\r\n".utf8) + [$0, 13, 10] } + Array("0\r\n\r\n".utf8))
            connection.waitForEnd()
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        let report = try await TransferStage().run(request)
        #expect(report.failure == nil)
        #expect(report.body == Self.text)
    }

    @Test func `a compressed body without content ends as one that is mostly framing`() async throws {
        // Blocks of deflate that store nothing, without end.
        let empty = Array(repeating: [0, 0, 0, 0xff, 0xff] as [UInt8], count: 10_000).flatMap(\.self)
        let server = try ScriptedServer { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n")
            while connection.write(empty) {}
        }
        var request = try TransferRequest(port: server.port)
        request.acceptsEncodings = true
        request.limit.bodyBytes = 1 << 20
        let report = try await TransferStage().run(request)
        #expect(report.failure?.reason == .badResponse)
    }
}
