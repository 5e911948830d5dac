import Foundation
import ReachTesting
import Testing

/// The memory of a program while it uploads a large form.
@Suite(.timeLimit(.minutes(2))) struct UploadMemoryTests {
    private struct Figures: Decodable {
        let status: Int
        let more_bytes: Int
    }

    /// The program resets its peak just before the upload.
    @Test(
        .disabled(
            if: ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil,
            "the address sanitizer keeps 256 MiB of freed memory"))
    func `a form of 100 MB needs at most 16 MiB of memory`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/half"
        try ChildProcess.run(["truncate", "--size=50000000", path])
        let lengths = EventLog<Int>()
        let server = try ScriptedServer { connection in
            while let length = Self.swallow(connection) {
                lengths.append(length)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let result = try BuiltProgram(named: "sessiondrain").run(
            ["upload", path, "50000000", "http://127.0.0.1:\(server.port)/"], limit: .seconds(100))
        #expect(result.status == 0, "\(result.standardError)")
        let figures = try JSONDecoder().decode(Figures.self, from: Data(result.standardOutput.utf8))
        #expect(figures.status == 200)
        #expect(lengths.values.count == 2 && (lengths.values.last ?? 0) > 105_000_000)
        #expect(figures.more_bytes <= 16 << 20, "\(figures.more_bytes >> 10) KiB")
    }

    /// Reads a request without keeping it.
    ///
    /// - Returns: The length of its body; `nil` at the end of the connection.
    private static func swallow(_ connection: ScriptedServer.Connection) -> Int? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = connection.read(1) else { return nil }
            head += byte
        }
        let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
        let length =
            lines.first { $0.lowercased().hasPrefix("content-length: ") }.flatMap { Int($0.dropFirst(16)) } ?? 0
        var left = length
        while left > 0 {
            guard let bytes = connection.read(min(left, 1 << 16)) else { return nil }
            left -= bytes.count
        }
        return length
    }
}
