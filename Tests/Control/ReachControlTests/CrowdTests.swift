import Foundation
import ReachControl
import ReachCore
import ReachLoop
import ReachTesting
import Testing

/// Many clients at once, few of them well-behaved.
@Suite(.serialized) struct CrowdTests {
    private static let watch = #"{"method":"io.reach.Monitor.Watch","more":true}"#

    /// The number of sockets with this path in the kernel: the listening one, and those accepted from it.
    private func sockets(_ path: String) throws -> Int {
        // Files of /proc have size 0, so Foundation reads nothing from them.
        let list = try ChildProcess.run(["cat", "/proc/net/unix"])
        return list.split(separator: "\n").count { $0.hasSuffix(" " + path) }
    }

    @Test func `a client gets every event among a hundred that send garbage and a hundred that are silent`() throws {
        let server = try TestServer()
        var random = SeededGenerator(seed: 30)
        let good = try RawClient(server.path)
        good.send(Self.watch)
        #expect(try good.nextEvent()["seq"] == .integer(1))
        let silent = try (0..<100).map { _ in try RawClient(server.path) }
        let deaf = try (0..<20).map { _ in try RawClient(server.path) }
        deaf.forEach { $0.send(Self.watch) }
        var number: Int64 = 1
        for _ in 0..<100 {
            let bad = try RawClient(server.path)
            bad.send(random.bytes(Int.random(in: 1...3000, using: &random)) + [0])
            server.run { service, _ in for _ in 0..<5 { service.change() } }
            for _ in 0..<5 {
                number += 1
                #expect(try good.nextEvent()["seq"] == .integer(number))
            }
        }
        #expect(server.wait { $0.connections == 121 && $0.badMessages == 100 })
        #expect(try sockets(server.path) == 122)
        for client in silent { client.send(Self.watch) }
        for client in silent { #expect(try client.nextEvent()["status"]?["epoch"] == .integer(number)) }
    }

    @Test func `two thousand clients come and go without leaking a descriptor`() throws {
        let server = try TestServer()
        for number in 0..<2000 {
            let client = try RawClient(server.path)
            switch number % 4 {
            case 0: break
            case 1: client.send(Array("half a mess".utf8))
            case 2: client.send(Self.watch)
            default: _ = try client.call(#"{"method":"io.reach.Monitor.Status"}"#)
            }
        }
        #expect(server.wait { $0.connections == 0 && $0.targets == 0 })
        #expect(try sockets(server.path) == 1)
        server.run { _, server in server.stop() }
        #expect(try sockets(server.path) == 0)
    }

    @Test func `each of five hundred subscribers gets every change in order`() throws {
        let (subscribers, changes) = (500, 100)
        let server = try TestServer()
        let tallies = try (0..<subscribers).map { _ in try StreamTally(server.path) }
        for tally in tallies { tally.client.send(Self.watch) }
        // A change before a stream begins is part of its first event.
        for tally in tallies { try tally.read(upTo: 1) }
        let start = ContinuousClock.now
        for number in 1...changes {
            server.run { service, _ in service.change() }
            if number % 10 == 0 { for tally in tallies { try tally.read(upTo: number + 1) } }
        }
        let time = ContinuousClock.now - start
        print("\(subscribers) subscribers, \(changes) changes: \(time / changes) a change, reading included")
        for tally in tallies { #expect(tally.sequence == changes + 1 && tally.isWhole) }
        #expect(server.statistics.droppedEvents == 0)
    }

    @Test func `a server out of descriptors refuses new clients and serves the others`() throws {
        try ScarceDescriptors.run(limit: 60) {
            let server = try TestServer()
            let good = try RawClient(server.path)
            good.send(Self.watch)
            #expect(try good.nextEvent()["seq"] == .integer(1))
            // The clients' ends are descriptors of this process, too, so the server runs out while they connect.
            var clients: [RawClient] = []
            while let client = try? RawClient(server.path) { clients.append(client) }
            #expect(clients.count > 10)
            for number in 2...20 as ClosedRange<Int64> {
                server.run { service, _ in service.change() }
                #expect(try good.nextEvent()["seq"] == .integer(number))
            }
            // The server does not spin in the meantime.
            let before = clock()
            usleep(500_000)
            #expect(clock() - before < CLOCKS_PER_SEC / 10)
            clients = []
            #expect(server.wait { $0.connections == 1 })
            let late = try RawClient(server.path)
            #expect(try late.call(#"{"method":"io.reach.Monitor.Status"}"#)["parameters"] != nil)
        }
    }
}

/// Checks the types and numbers of a stream's events without decoding them.
private final class StreamTally {
    let client: RawClient
    private(set) var sequence = 0
    private(set) var isWhole = true

    init(_ path: String) throws { client = try RawClient(path) }

    func read(upTo number: Int) throws {
        while sequence < number {
            let frame = try client.nextFrame(within: .seconds(20))
            sequence += 1
            let type = sequence == 1 ? "snapshot" : "change"
            isWhole =
                isWhole
                && frame.starts(
                    with: #"{"parameters":{"event":{"v":1,"type":"\#(type)","seq":\#(sequence),"#.utf8)
        }
    }
}

/// Runs a test's body in a process of its own with a limit of descriptors: the same test of the same program, which a
/// variable in the environment marks as the child.
private enum ScarceDescriptors {
    private static let mark = "REACH_TEST_SCARCE"

    static func run(limit: Int, _ body: () throws -> Void) throws {
        if getenv(mark) != nil {
            try body()
            return print(mark)
        }
        let output = try ChildProcess.run([
            "/bin/sh", "-c", "ulimit -n \(limit) && \(mark)=1 exec /proc/\(getpid())/exe \"$@\"", "sh",
            "--testing-library", "swift-testing", "--filter", "out of descriptors",
        ])
        #expect(output.contains(mark))
    }
}
