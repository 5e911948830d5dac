import Foundation
import ReachControl
import ReachCore
import Testing

/// What may come over one connection, and what it may not do to others.
@Suite struct ConversationTests {
    private static let status = #"{"method":"io.reach.Monitor.Status"}"#

    /// A client that is answered, among whatever others do.
    private func expectService(_ server: TestServer) throws {
        let client = try RawClient(server.path)
        #expect(try client.call(Self.status)["parameters"]?["status"] != nil)
    }

    @Test func `calls that come at once are answered in their order`() throws {
        let server = try TestServer()
        nonisolated(unsafe) let client = try RawClient(server.path)
        let count = 300
        let calls = (0..<count).map {
            #"{"method":"io.reach.Monitor.Status","parameters":{"target":"host\#($0).example"}}"#
        }
        DispatchQueue.global().async { client.send(calls.flatMap { Array($0.utf8) + [0] }) }
        for number in 0..<count {
            #expect(
                try client.next()["parameters"]?["status"]?["target"] == .string("host\(number).example"))
        }
    }

    @Test func `a call in pieces is one call`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        for byte in Array(Self.status.utf8) + [0] {
            client.send([byte])
            usleep(200)
        }
        #expect(try client.next()["parameters"] != nil)
    }

    @Test func `a call that wants no answer gets none`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Nothing","oneway":true}"#)
        client.send(#"{"method":"io.reach.Monitor.Watch","oneway":true,"more":true}"#)
        client.send(#"{"method":"io.reach.Monitor.Reload","oneway":true}"#)
        #expect(try client.call(Self.status)["parameters"]?["status"] != nil)
        #expect(server.run { service, _ in service.reloads.count } == 1)
    }

    @Test func `one who has said everything is still answered`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(Self.status)
        client.send(#"{"method":"io.reach.Monitor.Reload","oneway":true}"#)
        client.finishSending()
        #expect(try client.next()["parameters"]?["status"] != nil)
        #expect(client.isHungUp())
        #expect(server.run { service, _ in service.reloads.count } == 1)
    }

    @Test func `an answer that takes its time keeps only its own connection waiting`() throws {
        let server = try TestServer()
        server.run { service, _ in service.answersLater = true }
        let client = try RawClient(server.path)
        client.send(Self.status)
        client.send(#"{"method":"org.varlink.service.GetInfo"}"#)
        let gone = try RawClient(server.path)
        gone.send(Self.status)
        #expect(server.wait { _ in server.run { service, _ in service.openQuestions.count } == 2 })
        gone.hangUp()
        #expect(server.wait { $0.connections == 1 })
        let other = try RawClient(server.path)
        #expect(try other.call(#"{"method":"org.varlink.service.GetInfo"}"#)["parameters"] != nil)
        server.run { service, _ in
            for question in service.openQuestions {
                question(.failure(.cannotObserve(reason: "at last")))
                // A second answer is not sent.
                question(.failure(.cannotObserve(reason: "again")))
            }
        }
        #expect(try client.next()["parameters"]?["reason"] == .string("at last"))
        #expect(try client.next()["parameters"]?["product"] == .string("test"))
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n\r\n", "", "[]", #""a""#, "{}", #"{"method":7}"#, #"{"method":"a.b""#,
        #"{"method":"a.b","parameters":[]}"#, "\u{1}\u{2}\u{3}", String(repeating: "[", count: 100),
    ])
    func `garbage ends its own connection`(garbage: String) throws {
        let server = try TestServer()
        let good = try RawClient(server.path)
        let bad = try RawClient(server.path)
        bad.send(garbage)
        #expect(bad.isHungUp())
        #expect(try good.call(Self.status)["parameters"]?["status"] != nil)
        #expect(server.statistics.badMessages == 1)
        #expect(server.statistics.connections == 1)
    }

    @Test func `what was asked before garbage is answered`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(Array(Self.status.utf8) + [0] + Array("garbage\0".utf8))
        #expect(try client.next()["parameters"]?["status"] != nil)
        #expect(client.isHungUp())
    }

    @Test func `a message of a mebibyte is read, and one of a byte more is not`() throws {
        let server = try TestServer()
        let start = Array(#"{"method":"io.reach.Monitor.Status","parameters":{"target":""#.utf8)
        let end = Array(#""}}"#.utf8)
        let fill = [UInt8](repeating: 0x61, count: (1 << 20) - start.count - end.count)
        let client = try RawClient(server.path)
        client.send(start + fill + end + [0])
        let reply = try client.next()
        #expect(reply["error"] == .string("io.reach.Monitor.InvalidTarget"))
        // An answer does not carry back whatever was sent.
        #expect(reply["parameters"]?["target"]?.string?.utf8.count == 256)
        client.send(start + fill + [0x61] + end + [0])
        #expect(client.isHungUp())
        try expectService(server)
    }

    @Test func `a message that is begun must end in time, and silence may last`() throws {
        var limits = ControlLimits()
        limits.messagePatience = .milliseconds(300)
        let server = try TestServer(limits: limits)
        let silent = try RawClient(server.path)
        let asked = try RawClient(server.path)
        #expect(try asked.call(Self.status)["parameters"] != nil)
        let half = try RawClient(server.path)
        let start = ContinuousClock.now
        // Its trickle does not buy it time.
        for byte in Self.status.utf8.prefix(10) {
            half.send([byte])
            usleep(20_000)
        }
        #expect(half.isHungUp())
        #expect(ContinuousClock.now - start >= .milliseconds(290))
        usleep(300_000)
        for client in [silent, asked] { #expect(try client.call(Self.status)["parameters"] != nil) }
    }

    @Test func `a user can only leave so much unfinished`() throws {
        var limits = ControlLimits()
        limits.unfinishedBytesPerUser = 100_000
        let server = try TestServer(limits: limits)
        let first = try RawClient(server.path)
        first.send([UInt8](repeating: 0x20, count: 80_000))
        let second = try RawClient(server.path)
        second.send([UInt8](repeating: 0x20, count: 80_000))
        #expect(server.wait { $0.connections == 1 })
        #expect([first.isHungUp(within: .milliseconds(50)), second.isHungUp(within: .milliseconds(50))].contains(true))
        try expectService(server)
    }

    @Test func `one who does not read is not answered further, and keeps nobody busy`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        let call = Array(Self.status.utf8) + [0]
        var taken = 0
        // The server stops reading, and then the kernel stops taking.
        for _ in 0..<200 {
            let calls = Array(repeating: call, count: 100).flatMap { $0 }
            let count = client.send(calls, waits: false)
            taken += count
            guard count == calls.count else { break }
            usleep(1000)
        }
        #expect(taken < 200 * 100 * call.count)
        try expectService(server)
        for _ in 0..<(taken / call.count) { _ = try client.next() }
    }

    @Test func `only some may have the configuration read again, and a mistake in it is told`() throws {
        let call = #"{"method":"io.reach.Monitor.Reload"}"#
        let server = try TestServer()
        let client = try RawClient(server.path)
        #expect(try client.call(call)["parameters"] == .object([:]))
        let caller = server.run { service, _ in service.reloads.first }
        #expect(caller == Caller(user: getuid(), group: getgid(), process: getpid()))
        server.run { service, _ in
            service.reloadResult = .failure(.badConfiguration(reason: "reach.toml: 3: unknown key"))
        }
        let reply = try client.call(call)
        #expect(reply["error"] == .string("io.reach.Monitor.BadConfiguration"))
        #expect(reply["parameters"]?["reason"] == .string("reach.toml: 3: unknown key"))
    }
}
