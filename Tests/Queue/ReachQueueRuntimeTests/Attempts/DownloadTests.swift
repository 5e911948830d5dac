import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import ReachTransfer
import Testing

/// Long answers, over the loss of a link and the end of the process.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct DownloadTests {
    private static let url = "http://203.0.113.10/"

    /// nginx with a file `0` of these bytes, which it sends slowly, and a line of its log for each request.
    private struct Web {
        let server: WebServer

        /// - Parameter rate: Of each answer, in bytes a second, as nginx has it.
        init(in namespace: TestNamespace, bytes: Int, rate: String = "8m") throws {
            server = try WebServer(
                """
                log_format told '$status $http_range $bytes_sent';
                server { listen 203.0.113.10:80; access_log log told; limit_rate \(rate); }
                """, listensOn: [80], in: namespace)
            // So that a byte in a wrong place shows.
            try ChildProcess.run([
                "sh", "-c", "seq 1 99999999 | head -c \(bytes) > \(server.directory.path)/0",
            ])
        }

        /// The status and the range of each request that has ended, in order.
        func log() throws -> [(status: String, range: String)] {
            try ChildProcess.run(["cat", server.directory.path + "/log"]).split(separator: "\n").map { line in
                let words = line.split(separator: " ").map(String.init)
                return (words[0], words[1])
            }
        }

        func isLike(_ path: String) -> Bool {
            (try? ChildProcess.run(["cmp", server.directory.path + "/0", path])) != nil
        }
    }

    private static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    private static func first(of range: String) -> Int? { Int(range.dropFirst("bytes=".count).prefix { $0 != "-" }) }

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `killed in the middle of a download, the queue resumes it where it was`() throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let web = try Web(in: links.internet, bytes: 24_000_000)
        let program = BuiltProgram(named: "queuerun")
        let queue = directory.path + "/queue"
        let killed = try program.start([queue, "1", Self.url, "get"], in: links.machine.name)
        var lines: [String] = []
        while !(lines.last ?? "").hasPrefix("added ") { lines.append(try killed.nextLine()) }
        let id = String(lines.last?.dropFirst(6) ?? "")
        let answer = queue + "/spool/answer-" + id
        let deadline = ContinuousClock.now + .seconds(20)
        while Self.size(answer) < 6_000_000, ContinuousClock.now < deadline { usleep(10_000) }
        killed.send(SIGKILL)
        _ = try killed.finish()
        let reached = Self.size(answer)
        #expect(reached >= 6_000_000 && reached < 24_000_000)

        let next = try program.start([queue, "0", Self.url], in: links.machine.name)
        #expect(try next.nextLine() == "open 1")
        #expect(try next.nextLine(within: .seconds(30)) == "done \(id)")
        let log = try web.log()
        try #require(log.count == 2, "\(log)")
        // The machine has not ended: not a byte is asked for twice.
        #expect(log[1].status == "206" && Self.first(of: log[1].range) == reached, "\(log)")
        #expect(web.isLike(answer))
        #expect(access(answer + ".resume", F_OK) == -1)
        next.send(SIGTERM)
    }

    @Test(.enabled(if: WebServer.isAvailable, "\(WebServer.whyNot)"))
    func `a download that lost its link goes on where it was`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let web = try Web(in: links.internet, bytes: 8_000_000, rate: "2m")
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue")
        // On a thread of its own: where many tests block those that run tests, the download would be over.
        BackgroundThread.start(named: "test-cut") { [progress = room.progress] in
            let limit = ContinuousClock.now + .seconds(20)
            while !progress.values.contains(where: { $0.bytes.received > 1_200_000 }), ContinuousClock.now < limit {
                usleep(10_000)
            }
            try? links.take(down: "lan0")
        }
        let id = try await room.add(Self.url + "0", when: "unmetered")
        let answer = directory.path + "/queue/spool/" + QueueDirectory.answerName(id)
        try await room.wait(for: .interrupted, of: id, within: .seconds(30))
        let reached = Self.size(answer)
        #expect(reached >= 1_000_000)
        try links.bring(up: "lan0")
        try await room.wait(for: .done, of: id, within: .seconds(40))
        #expect(web.isLike(answer))
        // nginx tells of a connection that broke only when it has noticed.
        let resumed = try web.log().filter { $0.status == "206" }
        #expect(resumed.count == 1)
        #expect(resumed.first.flatMap { Self.first(of: $0.range) }.map { $0 >= 1_000_000 } == true, "\(resumed)")
    }

    @Test func `where the server cannot resume, the download begins again`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let room = try QueueRoom(in: links.machine, directory: directory.path + "/queue") {
            $0.attempts.memoryBytes = 10
        }
        let whole = String(repeating: "a", count: 200)
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) {
            [seen = EventLog<Bool>()] in
            let hasRange = $0.readRequest().contains("Range: bytes=100-")
            seen.append(hasRange)
            if hasRange {
                $0.write("HTTP/1.1 416 None\r\nContent-Range: bytes */200\r\nContent-Length: 0\r\n\r\n")
            } else {
                let count = seen.values.count == 1 ? 100 : 200
                $0.write("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 200\r\n\r\n" + whole.prefix(count))
            }
        }
        let id = try await room.add(Self.url)
        try await room.wait(for: .done, of: id)
        #expect(server.requests.values.map { $0.contains("Range:") } == [false, true, false])
        #expect(try await room.read(QueueDirectory.answerName(id)) == Array(whole.utf8))
        // That the server has no more is no attempt that it failed.
        #expect(try await room.record(id)?.attempts == 1)
    }
}
