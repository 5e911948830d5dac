import Glibc
import ReachCore
import ReachSession
import ReachTesting
import Testing

/// Files of cookies and responses of a process that is killed while it writes them.
@Suite(.timeLimit(.minutes(2))) struct KillTests {
    private static func bytes(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var (bytes, piece) = ([UInt8](), [UInt8](repeating: 0, count: 65536))
        while case let count = fread(&piece, 1, piece.count, file), count > 0 { bytes += piece[..<count] }
        return bytes
    }

    @Test func `files of a process that was killed are whole, and the next one uses them`() async throws {
        let directory = try TemporaryDirectory()
        let body = "{\"a\":\"" + String(repeating: "x", count: 40_000) + "\"}"
        let server = try ScriptedServer { connection in
            while case let request = connection.readRequest(), !request.isEmpty {
                let number = request.split(separator: " ")[1].dropFirst()
                connection.write(
                    "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\nContent-Type: application/json\r\n"
                        + "Set-Cookie: n\(number)=1; Max-Age=1000\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        + body)
            }
        }
        let url = "http://127.0.0.1:\(server.port)"
        var found = 0
        for round in 1...8 {
            // What the last one stored is answered from there.
            let begun = server.requests.values.count
            let program = try BuiltProgram(named: "getonce").start(["\(url)/\(round)", directory.path])
            _ = try await server.requests.wait(for: begun + 10 + round * 3)
            program.send(SIGKILL)
            _ = try? program.finish()
            let names = try ChildProcess.run(["ls", directory.path + "/cache"]).split(separator: "\n").map(String.init)
            for name in names where name.hasSuffix(".answer") {
                let response = CachedResponse(file: Self.bytes(directory.path + "/cache/" + name))
                #expect(response?.body.count == body.utf8.count, "\(name)")
                found += 1
            }
        }
        #expect(found > 20)
        var options = RequestSessionOptions()
        options.cookies = .file(directory.path + "/cookies")
        options.cache = .directory(directory.path + "/cache", bytes: 1 << 20, memoryBytes: 0)
        let session = try RequestSession(options: options)
        #expect(session.cache.bytes <= 1 << 20)
        _ = try await session.get(url + "/last").response()
        #expect(await session.closeAndWait())
        #expect(access(directory.path + "/cookies.new", F_OK) != 0)
    }
}
