import ReachSession
import ReachTesting

/// A server that sends half of a file, and the rest when the test opens the gate. It supports ranges.
final class HalvingServer: Sendable {
    static let body = String(repeating: "0123456789", count: 20_000)
    let server: ScriptedServer
    let gate = ThreadGate()

    init() throws {
        let gate = gate
        server = try ScriptedServer { connection in
            let request = connection.readRequest()
            let line = request.split(separator: "\r\n").first { $0.hasPrefix("Range: bytes=") }
            let offset = line.flatMap { Int($0.dropFirst(13).dropLast()) } ?? 0
            let rest = Self.body.utf8.dropFirst(offset)
            connection.write(
                (offset == 0
                    ? "HTTP/1.1 200 OK\r\n"
                    : "HTTP/1.1 206 Partial\r\nContent-Range: bytes \(offset)-\(Self.body.utf8.count - 1)/*\r\n")
                    + "ETag: \"one\"\r\nContent-Length: \(rest.count)\r\nConnection: close\r\n\r\n")
            connection.write(Array(rest.prefix(rest.count / 2)))
            if offset == 0 { gate.wait() }
            connection.write(Array(rest.dropFirst(rest.count / 2)))
        }
    }

    deinit { gate.open() }

    /// A download of the file, of which some bytes have arrived.
    func begunDownload(by session: RequestSession, to path: String) async throws -> RequestTask {
        let task = try session.download(url, to: path)
        let log = EventLog<TaskProgress>()
        task.whenProgressed { log.append($0) }
        task.resume()
        try await log.wait { $0.received > 0 }
        return task
    }

    var url: String { "http://127.0.0.1:\(server.port)/big" }
    /// The Range fields of the requests received.
    var ranges: [String] {
        server.requests.values.compactMap { request in
            request.split(separator: "\r\n").first { $0.hasPrefix("Range: ") }.map(String.init)
        }
    }
}
