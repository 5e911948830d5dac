import Foundation
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// Values and streams of an answer that arrives in pieces.
@Suite(.timeLimit(.minutes(1))) struct StreamValueTests {
    private struct Point: Codable, Equatable, Sendable {
        var x: Int
        var name: String?
    }

    private func session(_ pieces: [String], gate: ThreadGate? = nil) throws -> (ScriptedServer, RequestTask) {
        let server = try ScriptedServer { connection in
            guard !connection.readRequest().isEmpty else { return }
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/x-ndjson\r\n\r\n")
            for (index, piece) in pieces.enumerated() {
                if index == 1 { gate?.wait() }
                connection.write(piece)
            }
        }
        return (server, try RequestSession().get("http://127.0.0.1:\(server.port)/"))
    }

    @Test func `each line is decoded as it arrives`() async throws {
        let gate = ThreadGate()
        let (server, task) = try session(
            ["{\"x\":1}\n\n{\"x\"", ":2,\"name\":\"two\"}\r\n \n", "{\"x\":3}"], gate: gate)
        defer { withExtendedLifetime(server) {} }
        defer { gate.open() }
        var points: [Point] = []
        for try await point in try await task.stream().lines.decoded(as: Point.self) {
            points.append(point)
            gate.open()
        }
        #expect(points == [Point(x: 1), Point(x: 2, name: "two"), Point(x: 3)])
    }

    @Test func `a line that is no such value is an error with the place, after the values before it`() async throws {
        let (server, task) = try session(["{\"x\":1}\n{\"x\":\"one\"}\n{\"x\":2}\n"])
        defer { withExtendedLifetime(server) {} }
        var points: [Point] = []
        do {
            for try await point in try await task.stream().lines.decoded(as: Point.self) { points.append(point) }
            Issue.record("a text is no number")
        } catch {
            #expect(error.summary == "response undecodable" && error.description.contains("x: "))
            #expect(error.underlyingError is DecodingError)
        }
        #expect(points == [Point(x: 1)])
    }

    @Test func `a serializer of one's own makes values of pieces`() async throws {
        let gate = ThreadGate()
        let (server, task) = try session(["one", "three"], gate: gate)
        defer { withExtendedLifetime(server) {} }
        defer { gate.open() }
        var counts: [Int] = []
        for try await count in try await task.stream().map({ $0.count }) {
            counts.append(count)
            gate.open()
        }
        #expect(counts == [3, 5])
    }

    @Test func `Foundation reads an answer as a stream, on a thread of its own`() async throws {
        let text = String(repeating: "0123456789", count: 100_000)
        let (server, task) = try session([text, "end"])
        defer { withExtendedLifetime(server) {} }
        let stream = try await task.stream()
        let read: String = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let input = stream.inputStream()
                var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 7000))
                let early = input.read(&buffer, maxLength: 1)
                #expect(early == -1 && input.streamStatus == .notOpen)
                input.open()
                while input.hasBytesAvailable {
                    let count = input.read(&buffer, maxLength: buffer.count)
                    if count <= 0 { break }
                    bytes += buffer.prefix(count)
                }
                #expect(input.streamStatus == .atEnd && input.streamError == nil)
                input.close()
                continuation.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        #expect(read == text + "end")
        #expect(try await task.response().statusCode == 200)
    }

    @Test func `a stream of Foundation's that is closed ends the request`() async throws {
        let gate = ThreadGate()
        let (server, task) = try session(["one", "two"], gate: gate)
        defer { withExtendedLifetime(server) {} }
        defer { gate.open() }
        let stream = try await task.stream()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let input = stream.inputStream()
                input.open()
                var buffer = [UInt8](repeating: 0, count: 3)
                let first = input.read(&buffer, maxLength: 3)
                input.close()
                let second = input.read(&buffer, maxLength: 3)
                #expect(first == 3 && second == 0 && input.streamStatus == .closed)
                continuation.resume()
            }
        }
        _ = consume stream
        #expect(await failure { try await task.response() } == "cancelled cancelled")
    }
}
