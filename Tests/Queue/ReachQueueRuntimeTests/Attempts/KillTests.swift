import Glibc
import ReachCore
import ReachTesting
import Synchronization
import Testing

/// A process that is killed while its queue is sent.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct KillTests {
    /// What a server saw: how often each key came, and whether each of its requests was whole.
    private final class Journal: Sendable {
        let keys = Mutex<[String: Int]>([:])

        func take(_ request: String) {
            let key = request.split(separator: "\r\n").first { $0.hasPrefix("Idempotency-Key: ") }
            guard let key, request.contains("\r\n\r\nbody ") else { return }
            keys.withLock { $0[String(key), default: 0] += 1 }
        }
    }

    @Test func `nothing that was acknowledged is lost, and each kill costs no more repetitions than ran`() async throws
    {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let journal = Journal()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            while case let request = connection.readRequest(), !request.isEmpty {
                journal.take(request)
                usleep(3000)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let program = BuiltProgram(named: "queuerun")
        var added: Set<String> = []
        var ended: [String: Int] = [:]
        var dead = 0
        let take = { (line: String) in
            let words = line.split(separator: " ").map(String.init)
            if words[0] == "added" { added.insert(words[1]) }
            if words[0] == "done" || words[0] == "dead" { ended[words[1], default: 0] += 1 }
            if words[0] == "dead" { dead += 1 }
        }
        let kills = 6
        let perRun = 60
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<kills {
            let run = try program.start(
                [directory.path + "/queue", "\(perRun)", "http://203.0.113.10/"], in: links.machine.name)
            // Anywhere from the first commit on to well into the sending.
            for _ in 0..<Int.random(in: 2...perRun * 2, using: &generator) { take(try run.nextLine()) }
            run.send(SIGKILL)
            for line in try run.finish().lines { take(line) }
        }
        let last = try program.start([directory.path + "/queue", "0", "http://203.0.113.10/"], in: links.machine.name)
        let opened = try last.nextLine()
        var left = Int(opened.split(separator: " ").last ?? "") ?? -1
        try #require(left >= 0, "\(opened)")
        while left > 0 {
            take(try last.nextLine())
            left -= 1
        }
        last.send(SIGKILL)
        _ = try last.finish()
        #expect(added.count > perRun)
        #expect(dead == 0)
        let keys = journal.keys.withLock { $0 }
        #expect(keys.count >= added.count, "every acknowledged request arrived")
        let repetitions = keys.values.reduce(0) { $0 + $1 - 1 }
        // Four run at a time to one host.
        #expect(repetitions <= kills * 4, "\(repetitions)")
        // An end that was told before a kill may be told by no one, but none is told twice.
        #expect(ended.values.allSatisfy { $0 == 1 })
        withExtendedLifetime(server) {}
    }
}
