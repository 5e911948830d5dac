import Glibc
import ReachCore
import ReachLoop
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// A link that does not stay.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct FlapTests {
    @Test func `while a link flaps faster than it settles nothing starts, and nothing piles up`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine) { $0.policy.paths.settling = .seconds(3) }
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let url = "http://203.0.113.10/"
        try await room.wait(for: .done, of: try await room.add(url))
        try links.take(down: "lan0")
        let id = try await room.add(url)
        try await room.wait(for: .waiting, of: id)
        let before = await room.sockets()
        for _ in 0..<60 {
            try links.bring(up: "lan0")
            try links.take(down: "lan0")
        }
        #expect(!room.kinds(of: id).contains(.started))
        let after = await room.sockets()
        #expect(after <= before, "\(before) \(after)")
        try links.bring(up: "lan0")
        let up = ContinuousClock.now
        let started = try await room.wait(for: .started, of: id)
        let held = started.at - up
        #expect(held >= .milliseconds(2900), "it settles for as long as the policy says: \(held)")
        try await room.wait(for: .done, of: id)
        #expect(server.requests.values.count == 2)
    }

    @Test func `over a flapping link requests are sent, and none more often than by curl next to them`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let directory = try TemporaryDirectory()
        let server = try ScriptedServer(in: links.internet, at: TwoLinks.server, port: 80) { connection in
            connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        }
        let (count, every) = (66, 400)
        let program = try BuiltProgram(named: "queuerun").start(
            [directory.path + "/queue", "\(count)", "http://203.0.113.10/queue/", "get", "\(every)"],
            in: links.machine.name)
        let curls = EventLog<Int>()
        BackgroundThread.start(named: "test-curls") { [machine = links.machine] in
            for number in 0..<count {
                BackgroundThread.start(named: "test-curl") {
                    // It goes on after a while without a network, as a script's loop does.
                    _ = try? machine.run(
                        "curl", "-s", "-o", "/dev/null", "--retry", "20", "--retry-all-errors", "--max-time", "5",
                        "http://203.0.113.10/curl/\(number)")
                    curls.append(number)
                }
                usleep(useconds_t(every * 1000))
            }
        }
        // Nine times 3.2 s.
        for _ in 0..<9 {
            try await Task.sleep(for: .seconds(2.5))
            try links.take(down: "lan0")
            try await Task.sleep(for: .seconds(0.7))
            try links.bring(up: "lan0")
        }
        let sent = Self.sends(server, "/queue/")
        #expect(sent.count >= 60, "\(sent.count) were sent while it flapped")
        _ = try await curls.wait(for: count, within: .seconds(60))
        let (ours, theirs) = (Self.sends(server, "/queue/"), Self.sends(server, "/curl/"))
        let (all, byCurl) = (ours.values.reduce(0, +), theirs.values.reduce(0, +))
        print("sent while flapping: \(sent.count); in all \(all), by curl \(byCurl)")
        for (number, sends) in ours { #expect(sends <= max(1, theirs[number] ?? 0), "\(number) \(sends)") }
        program.send(SIGTERM)
        _ = try program.finish()
    }

    /// How often the server received each request with a number below this path.
    private static func sends(_ server: ScriptedServer, _ path: String) -> [Int: Int] {
        server.requests.values.reduce(into: [:]) { counts, request in
            let line = request.split(separator: " ", maxSplits: 2)
            guard line.count > 1, line[1].hasPrefix(path), let number = Int(line[1].dropFirst(path.count)) else {
                return
            }
            counts[number, default: 0] += 1
        }
    }
}

extension QueueRoom {
    /// How many sockets the queue's own thread has in its namespace.
    fileprivate func sockets() async -> Int {
        await ask { _ in
            // Only this thread is in the namespace, and only its sockets are counted here.
            guard let file = fopen("/proc/thread-self/net/sockstat", "r") else { return -1 }
            defer { fclose(file) }
            var line = [CChar](repeating: 0, count: 256)
            var count = 0
            while fgets(&line, 256, file) != nil {
                let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                let words = text.split(separator: " ")
                if words.first == "TCP:" || words.first == "UDP:" { count += Int(words[2]) ?? 0 }
            }
            return count
        }
    }
}
