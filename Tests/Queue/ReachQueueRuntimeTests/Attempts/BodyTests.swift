import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Bodies, answers, and what outlives the process that had them.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct BodyTests {
    private static let url = "http://203.0.113.10/"
    private static let empty = "HTTP/1.1 201 Made\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    @Test func `a half-sent upload is cut with its link, and sent whole when that returns`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue")
        let body = [UInt8](repeating: 0x61, count: 6_000_000)
        let name = try await room.spool(body)
        let (stalled, whole) = (EventLog<Bool>(), EventLog<Int>())
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            if stalled.values.isEmpty {
                // What is not read does not arrive: the sender stands still in the middle.
                stalled.append(true)
                connection.waitForEnd()
                usleepSeconds(20)
            } else {
                let request = connection.readRequest()
                whole.append(request.utf8.count)
                connection.write(Self.empty)
            }
        }
        let id = try await room.add(
            Self.url, method: "POST", when: "unmetered", body: .spooled(name: name, bytes: Int64(body.count)))
        let moved = try await room.progress.wait { $0.bytes.sent > 0 }
        #expect(moved.bytes.sent < 6_000_000)
        #expect(moved.bytes.toSend == 6_000_000)
        try links.take(down: "lan0")
        try await room.wait(for: .interrupted, of: id)
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id)
        #expect(whole.values.count == 1)
        let record = try #require(try await room.record(id))
        #expect(record.result?.status == 201)
        #expect(record.attempts == 0 && record.tries == 2)
        withExtendedLifetime(server) {}
    }

    @Test func `a long answer is kept in a file that only its owner can read`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue") {
            $0.attempts.memoryBytes = 1000
        }
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            let count = connection.readRequest().contains("/long") ? 5000 : 900
            connection.write("HTTP/1.1 200 OK\r\nX-Told: yes\r\nContent-Length: \(count)\r\nConnection: close\r\n\r\n")
            connection.write([UInt8](repeating: 0x61, count: count))
        }
        let short = try await room.add(Self.url + "short")
        let long = try await room.add(Self.url + "long")
        try await room.wait(for: .done, of: short)
        try await room.wait(for: .done, of: long)
        let shortResult = try await room.record(short)?.result
        #expect(shortResult?.body == .inline([UInt8](repeating: 0x61, count: 900)))
        #expect(shortResult?.header("x-told") == "yes")
        let name = "answer-\(long)"
        #expect(try await room.record(long)?.result?.body == .spooled(name: name, bytes: 5000))
        var status = stat()
        #expect(stat(directory.path + "/queue/spool/" + name, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == 5000)
        #expect(stat(directory.path + "/queue", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        withExtendedLifetime(server) {}
    }

    @Test func `a download that was cut goes on where it stopped, if the server vouches for it`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue") {
            $0.attempts.memoryBytes = 10
        }
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            if connection.readRequest().contains("Range: bytes=100-") {
                connection.write(
                    "HTTP/1.1 206 Partial\r\nETag: \"a\"\r\nContent-Range: bytes 100-199/200\r\n"
                        + "Content-Length: 100\r\nConnection: close\r\n\r\n" + String(repeating: "b", count: 100))
            } else {
                connection.write(
                    "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 200\r\n\r\n" + String(repeating: "a", count: 100)
                )
            }
        }
        let id = try await room.add(Self.url) { $0.acceptedStatuses = [200...200] }
        try await room.wait(for: .done, of: id)
        #expect(server.requests.values.count == 2)
        // No one asked for a part.
        let result = try await room.record(id)?.result
        #expect(result?.status == 200 && result?.header("content-range") == nil)
        #expect(result?.header("content-length") == "200")
        #expect(room.progress.values.last?.bytes.received == 200)
        let bytes = try await room.read("answer-\(id)")
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text == String(repeating: "a", count: 100) + String(repeating: "b", count: 100))
    }

    @Test func `an answer that is too long kills the request, and its file goes`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue") {
            $0.attempts.memoryBytes = 1000
            $0.attempts.answerBytes = 4000
        }
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            for _ in 0..<50 { connection.write([UInt8](repeating: 0x61, count: 1000)) }
        }
        let id = try await room.add(Self.url)
        let dead = try await room.wait(for: .dead, of: id)
        #expect(dead.event.reason == "unreadable")
        // The thread for files works in order: once it has read, it has removed.
        await #expect(throws: SystemError.self) { _ = try await room.read("answer-\(id)") }
        withExtendedLifetime(server) {}
    }

    @Test func `a queue that is stopped gives its leases back while servers are silent, and the next goes on`()
        async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let path = directory.path + "/queue"
        let arrived = EventLog<Bool>()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            arrived.append(true)
            if arrived.values.count > 4 { connection.write(Self.empty) } else { connection.waitForEnd() }
        }
        var ids: [RequestID] = []
        do {
            let room = try QueueRoom(in: links.machine, directory: path)
            for number in 0..<12 {
                ids.append(
                    try await room.add(
                        Self.url + "\(number)", method: number % 2 == 0 ? "POST" : "GET",
                        body: number % 2 == 0 ? .inline([0x61]) : .none))
            }
            try await arrived.wait(for: 4)
            room.stop()
            let interrupted = room.events.values.filter { $0.event.kind == .interrupted }
            #expect(interrupted.count <= 4)
        }
        let next = try QueueRoom(in: links.machine, directory: path)
        try await next.events.wait(within: .seconds(20)) { $0.count { $0.event.kind == .done } == 12 }
        // Nothing had to be guessed: no lease was left.
        #expect(!next.events.values.contains { $0.event.kind == .interrupted })
        for id in ids { #expect(try await next.record(id)?.end == .done) }
        withExtendedLifetime(server) {}
    }
}
