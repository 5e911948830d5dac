import Glibc
import ReachCore
import ReachQueue
import ReachQueueRuntime
import ReachTesting
import Testing

/// A link that does not stay.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct FlapTests {
    @Test func `while a link flaps nothing starts, and nothing piles up`() async throws {
        let links = try TwoLinks(up: ["lan0"])
        let room = try QueueRoom(in: links.machine) { $0.policy.holdDownLongest = .seconds(3) }
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
        #expect(held >= .milliseconds(2900), "it is held down for as long as the policy says: \(held)")
        try await room.wait(for: .done, of: id)
        #expect(server.requests.values.count == 2)
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
