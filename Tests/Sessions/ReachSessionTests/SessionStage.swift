import ReachCore
import ReachSession
import ReachTesting

/// A server on the loopback interface that returns each request's first line, and a session that uses it.
final class SessionStage: Sendable {
    let server: ScriptedServer
    let session: RequestSession

    /// Starts the server and the session.
    ///
    /// - Parameter answer: The response to a request; by default 200 and a JSON object with the request's first line.
    init(
        keeping: RequestSession.Keeping = .memory, _ change: (inout RequestSessionOptions) -> Void = { _ in },
        answer: @escaping @Sendable (String) -> String = SessionStage.echo
    ) throws {
        server = try ScriptedServer { connection in
            connection.write(answer(connection.readRequest()))
        }
        var options = RequestSessionOptions(program: "stage", version: "1.2")
        change(&options)
        session = try RequestSession(
            keeping: keeping, baseURL: "http://127.0.0.1:\(server.port)/v1", options: options)
    }

    static let echo: @Sendable (String) -> String = { request in
        let line = request.split(separator: "\r\n").first.map(String.init) ?? ""
        return answer(#"{"line":"\#(line)"}"#)
    }

    static func answer(_ body: String, status: String = "200 OK", type: String = "application/json") -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }

    var root: String { "http://127.0.0.1:\(server.port)" }
}

extension RequestError {
    /// The kind and word, for comparison.
    var summary: String { "\(kind.rawValue) \(word)" }
}

/// The summary of the error that `body` throws, or `none`.
func failure(_ body: () async throws -> Void) async -> String {
    do {
        try await body()
        return "none"
    } catch let error as RequestError {
        return error.summary
    } catch {
        return "\(error)"
    }
}

/// A server that answers when the test opens the gate.
final class SlowServer: Sendable {
    let server: ScriptedServer
    let gate = ThreadGate()

    init(_ answer: String = SessionStage.answer("{}")) throws {
        let gate = gate
        server = try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            gate.wait()
            connection.write(answer)
        }
    }

    deinit { gate.open() }

    var url: String { "http://127.0.0.1:\(server.port)/" }
}

struct TestFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension RequestTask {
    var awaitedResult: Result<RequestResponse, RequestError> {
        get async {
            do throws(RequestError) {
                return .success(try await response())
            } catch {
                return .failure(error)
            }
        }
    }
}
