import Glibc
import ReachLoop
import ReachQueue
import ReachTesting
import Testing

@testable import ReachQueueRuntime

/// A process that is killed at every place where that could matter.
@Suite struct QueueCrashTests {
    private let temporary: TemporaryDirectory
    private let program = BuiltProgram(named: "queuecrash")

    init() throws { temporary = try TemporaryDirectory() }

    private func run(_ point: String, _ count: Int) throws -> BuiltProgram.Result {
        try program.run(
            [temporary.path + "/queue", temporary.path + "/journal", point, "\(count)"], limit: .seconds(60))
    }

    /// How often each request was delivered, by its number; and the keys it was sent with.
    private func deliveries() throws -> [String: (count: Int, keys: Set<String>)] {
        let file = try #require(fopen(temporary.path + "/journal", "r"))
        defer { fclose(file) }
        var found: [String: (count: Int, keys: Set<String>)] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            let words = text.split(separator: " ").map(String.init)
            found[words[0], default: (0, [])].count += 1
            found[words[0], default: (0, [])].keys.insert(words[1])
        }
        return found
    }

    /// The requests that the file has as done, each once.
    private func ends() throws -> Set<String> {
        let database = try SQLiteDatabase.open(temporary.path + "/queue/queue.sqlite")
        let rows = try database.prepare("SELECT id FROM request WHERE state = 2")
        var ends: Set<String> = []
        while try rows.step() { ends.insert(String(rows.integer(0))) }
        return ends
    }

    @Test(arguments: [
        "before-commit", "after-enqueue-commit", "after-lease", "after-connect", "after-request-sent", "after-response",
        "before-result-commit", "after-result-commit", "during-checkpoint",
    ])
    func `killed at a named place, nothing acknowledged is lost and nothing is told twice`(point: String)
        async throws
    {
        let killed = try run(point, 40)
        #expect(killed.status == 128 + SIGKILL, "\(killed)")
        let acknowledged = killed.lines.filter { $0.hasPrefix("added ") }.map { String($0.dropFirst(6)) }
        let restarted = try run("never", 0)
        #expect(restarted.status == 0, "\(restarted)")
        #expect(restarted.lines.first?.hasSuffix("reset") == false)
        let delivered = try deliveries()
        for id in acknowledged { #expect(delivered[id] != nil, "\(id) is lost") }
        for (id, delivery) in delivered {
            #expect(delivery.count <= 2 && delivery.keys.count == 1, "\(id): \(delivery)")
        }
        let ends = try ends()
        #expect(ends.isSuperset(of: acknowledged))
        #expect(ends == Set(delivered.keys))
    }

    @Test(arguments: [
        "fdatasync,fsync 1", "fdatasync,fsync 2", "fdatasync,fsync 3", "fdatasync,fsync 4", "fdatasync 20",
        "pwrite64 12",
        "pwrite64 30", "pwrite64 60",
    ])
    func `when the disk fails to take it, a request is refused, and later ones are not`(call: String) throws {
        let words = call.split(separator: " ")
        #expect(try run("never", 3).status == 0)
        guard access("/usr/bin/strace", X_OK) == 0 else { return print("skipped: there is no strace") }
        let inject = "\(words[0]):error=EIO:when=\(words[1])"
        let traced = try ChildProcess.run([
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync,fsync,pwrite64", "-e", "inject=\(inject)",
            program.path,
            temporary.path + "/queue", temporary.path + "/journal", "never", "200",
        ])
        let lines = traced.split(separator: "\n").map(String.init)
        let refused = lines.count { $0 == "refused" }
        let acknowledged = Set(lines.filter { $0.hasPrefix("added ") }.map { String($0.dropFirst(6)) })
        #expect(refused + acknowledged.count == 200)
        #expect(lines.contains { $0.hasPrefix("degraded ") && $0 != "degraded no longer" } || refused == 0)
        let restarted = try run("never", 2)
        #expect(restarted.status == 0 && restarted.lines.first == "opened 0", "\(restarted)")
        let delivered = try deliveries()
        #expect(acknowledged.isSubset(of: Set(delivered.keys)))
        #expect(delivered.count == acknowledged.count + 5)
        #expect(delivered.values.allSatisfy { $0.count == 1 })
    }

    /// REACH_LONG_TESTS=1 takes the 500 rounds and 2000 requests of the list.
    @Test func `killed again and again at any time, none is lost and few are sent twice`() async throws {
        let isLong = getenv("REACH_LONG_TESTS") != nil
        let (rounds, requests) = isLong ? (500, 2000) : (15, 150)
        var random = SystemRandomNumberGenerator()
        var acknowledged: Set<String> = []
        var kills = 0
        for round in 0..<rounds {
            let child = try program.start(
                [temporary.path + "/queue", temporary.path + "/journal", "never", "\(requests / rounds)"])
            // Some are killed while they open the file. One that has not even opened its output is not waited for.
            let first = round % 3 == 0 ? nil : try child.nextLine(within: .seconds(20))
            usleep(UInt32.random(in: 1_000...80_000, using: &random))
            if kill(child.process, SIGKILL) == 0 { kills += 1 }
            var lines = [first].compactMap(\.self)
            while let line = try? child.nextLine(within: .milliseconds(300)) { lines.append(line) }
            acknowledged.formUnion(lines.filter { $0.hasPrefix("added ") }.map { String($0.dropFirst(6)) })
            #expect(!lines.contains { $0.hasSuffix("reset") }, "round \(round)")
        }
        let last = try run("never", 0)
        #expect(last.status == 0)
        let delivered = try deliveries()
        #expect(acknowledged.isSubset(of: Set(delivered.keys)))
        let repeated = delivered.values.reduce(0) { $0 + $1.count - 1 }
        // What was on its way when the process died may have arrived: at most as many as run at once to one
        // destination.
        #expect(repeated <= kills * 4)
        #expect(delivered.values.allSatisfy { $0.keys.count == 1 })
        #expect(try ends() == Set(delivered.keys))
        print("\(kills) kills, \(acknowledged.count) acknowledged, \(delivered.count) delivered, \(repeated) twice")
    }
}
