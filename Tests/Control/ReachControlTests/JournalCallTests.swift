import Glibc
import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachControl

@Suite struct JournalCallTests {
    @Test func `a page has the events behind the cursor, and the cursor for the next one`() throws {
        let server = try TestServer()
        server.run { service, _ in service.appendToJournal(5) }
        var client = try ControlClient(path: server.path)
        let first = try client.journal(JournalQuery(limit: 3))
        #expect(first.events.map(\.number) == [1, 2, 3] && first.events.allSatisfy { $0.type == "stopped" })
        #expect(first.log == FakeService.log && first.next == 3 && first.last == 5 && !first.isComplete)
        let second = try client.journal(JournalQuery(limit: 3).following(first))
        #expect(second.events.map(\.number) == [4, 5] && second.isComplete)
    }

    @Test(
        arguments: [
            (#""log":"5""#, "log"), (#""log":"../../../../../../etc/passwd5555""#, "log"), (#""after":-1"#, "after"),
            (#""after":"1""#, "after"), (#""limit":-1"#, "limit"), (#""types":"queue""#, "types"),
            (#""types":[1]"#, "types"), (#""since":1"#, "since"),
        ])
    func `a parameter of the wrong kind is refused by its name`(parameter: String, name: String) throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Journal","parameters":{\#(parameter)}}"#)
        let reply = try client.next()
        #expect(reply["error"]?.string == "org.varlink.service.InvalidParameter")
        #expect(reply["parameters"]?["parameter"]?.string == name)
    }

    @Test func `a stream begins at once, and goes on when events are written`() throws {
        let server = try TestServer()
        var stream = try JournalStream(path: server.path, JournalQuery(after: 0))
        let empty = try #require(try stream.next(within: .seconds(30)))
        #expect(empty.events.isEmpty && empty.isComplete && empty.next == 0)
        #expect(try stream.next(within: .zero) == nil)
        for round in Int64(1)...20 {
            server.run { service, _ in service.appendToJournal(1) }
            let page = try #require(try stream.next(within: .seconds(30)))
            #expect(page.events.map(\.number) == [round] && page.next == round)
        }
        server.run { service, _ in service.appendToJournal(250) }
        var numbers: [Int64] = []
        while numbers.count < 250 {
            numbers += try #require(try stream.next(within: .seconds(30))).events.map(\.number)
        }
        #expect(numbers == Array(21...270))
    }

    @Test func `a client that does not read costs no memory, and then misses nothing`() throws {
        let server = try TestServer()
        var stream = try JournalStream(path: server.path, JournalQuery(after: 0, limit: 1000))
        for _ in 0..<20 { server.run { service, _ in service.appendToJournal(1000) } }
        let readings = server.run { service, _ in service.readers.count }
        // The kernel's buffers hold a few pages; no more are read.
        #expect(readings < 10, "\(readings)")
        var numbers: [Int64] = []
        while numbers.count < 20_000 {
            numbers += try #require(try stream.next(within: .seconds(30))).events.map(\.number)
        }
        #expect(numbers == Array(1...20_000))
    }

    @Test func `following ends with the connection, and one user follows sixteen times`() throws {
        let server = try TestServer()
        do {
            var streams: [RawClient] = []
            for _ in 0..<16 {
                let client = try RawClient(server.path)
                client.send(#"{"method":"io.reach.Monitor.Journal","more":true}"#)
                _ = try client.next()
                streams.append(client)
            }
            let late = try RawClient(server.path)
            late.send(#"{"method":"io.reach.Monitor.Journal","more":true}"#)
            #expect(try late.next()["error"]?.string == "io.reach.Monitor.NotAvailable")
            #expect(server.run { service, _ in service.followingCount } == 16)
            // Calls that read a page are not held up.
            var client = try ControlClient(path: server.path)
            #expect(try client.journal(JournalQuery()).isComplete)
        }
        let deadline = ContinuousClock.now + .seconds(30)
        while server.run({ service, _ in service.followingCount }) > 0, ContinuousClock.now < deadline { usleep(1000) }
        var stream = try JournalStream(path: server.path, JournalQuery())
        #expect(try stream.next(within: .seconds(30)) != nil)
    }

    @Test(arguments: [(getuid(), nil, true), (getuid() + 7, nil, getuid() == 0), (getuid() + 7, getgid(), true)])
    func `the daemon's user, root and the journal's group read all users' events`(
        daemon: UInt32, group: UInt32?, readsAll: Bool
    ) throws {
        let server = try TestServer(authority: ControlAuthority(user: daemon, journalGroup: group))
        var client = try ControlClient(path: server.path)
        _ = try client.journal(JournalQuery())
        #expect(server.run { service, _ in service.readers } == [readsAll ? nil : getuid()])
    }

    @Test func `who may read all is decided like who may change`() {
        let authority = ControlAuthority(user: 7, group: 20, journalGroup: 30)
        func mayReadAll(_ user: UInt32, _ group: UInt32, _ others: Set<UInt32> = []) -> Bool {
            authority.mayReadAll(Caller(user: user, group: group, process: 1)) { others.contains($0) }
        }
        #expect(mayReadAll(0, 0) && mayReadAll(7, 7) && mayReadAll(1000, 30) && mayReadAll(1000, 5, [30]))
        #expect(!mayReadAll(1000, 20) && !mayReadAll(1000, 5, [20]) && !mayReadAll(1001, 1001))
    }
}
