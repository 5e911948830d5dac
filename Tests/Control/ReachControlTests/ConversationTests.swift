import Foundation
@testable import ReachControl
import ReachCore
import Testing

/// What a client can send over one connection, and that it does not harm others.
@Suite struct ConversationTests {
    private static let status = #"{"method":"io.reach.Monitor.Status"}"#

    /// Checks that the server answers a new client, whatever others do.
    private func expectService(_ server: TestServer) throws {
        let client = try RawClient(server.path)
        #expect(try client.call(Self.status)["parameters"]?["status"] != nil)
    }

    @Test func `calls sent at once are answered in order`() throws {
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

    @Test func `a call that arrives in pieces is one call`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        for byte in Array(Self.status.utf8) + [0] {
            client.send([byte])
            usleep(200)
        }
        #expect(try client.next()["parameters"] != nil)
    }

    @Test func `a one-way call gets no answer`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Nothing","oneway":true}"#)
        client.send(#"{"method":"io.reach.Monitor.Watch","oneway":true,"more":true}"#)
        client.send(#"{"method":"io.reach.Monitor.Reload","oneway":true}"#)
        #expect(try client.call(Self.status)["parameters"]?["status"] != nil)
        #expect(server.run { service, _ in service.reloads.count } == 1)
    }

    @Test func `a client that has shut down its sending side still gets its answers`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(Self.status)
        client.send(#"{"method":"io.reach.Monitor.Reload","oneway":true}"#)
        client.finishSending()
        #expect(try client.next()["parameters"]?["status"] != nil)
        #expect(client.isHungUp())
        #expect(server.run { service, _ in service.reloads.count } == 1)
    }

    @Test func `a slow answer delays only its own connection`() throws {
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
    func `garbage closes only its own connection`(garbage: String) throws {
        let server = try TestServer()
        let good = try RawClient(server.path)
        let bad = try RawClient(server.path)
        bad.send(garbage)
        #expect(bad.isHungUp())
        #expect(try good.call(Self.status)["parameters"]?["status"] != nil)
        #expect(server.statistics.badMessages == 1)
        #expect(server.statistics.connections == 1)
    }

    @Test func `calls before garbage are answered`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(Array(Self.status.utf8) + [0] + Array("garbage\0".utf8))
        #expect(try client.next()["parameters"]?["status"] != nil)
        #expect(client.isHungUp())
    }

    @Test func `a message of one mebibyte is accepted, and one byte more is refused`() throws {
        let server = try TestServer()
        let start = Array(#"{"method":"io.reach.Monitor.Status","parameters":{"target":""#.utf8)
        let end = Array(#""}}"#.utf8)
        let fill = [UInt8](repeating: 0x61, count: (1 << 20) - start.count - end.count)
        let client = try RawClient(server.path)
        client.send(start + fill + end + [0])
        // It is read, and the text in it is too long for a target.
        let reply = try client.next()
        #expect(reply["error"] == .string("org.varlink.service.InvalidParameter"))
        #expect(reply["parameters"]?["parameter"] == .string("target"))
        client.send(start + fill + [0x61] + end + [0])
        #expect(client.isHungUp())
        try expectService(server)
    }

    @Test func `a message must be complete in time, but a connection may stay silent`() throws {
        var limits = ControlLimits()
        limits.messagePatience = .milliseconds(300)
        let server = try TestServer(limits: limits)
        let silent = try RawClient(server.path)
        let asked = try RawClient(server.path)
        #expect(try asked.call(Self.status)["parameters"] != nil)
        let half = try RawClient(server.path)
        let start = ContinuousClock.now
        // Sending more bytes does not extend the time.
        for byte in Self.status.utf8.prefix(10) {
            half.send([byte])
            usleep(20_000)
        }
        #expect(half.isHungUp())
        #expect(ContinuousClock.now - start >= .milliseconds(290))
        usleep(300_000)
        for client in [silent, asked] { #expect(try client.call(Self.status)["parameters"] != nil) }
    }

    @Test func `a user's unfinished bytes are limited`() throws {
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

    @Test func `a client that does not read gets no further answers, and causes no work`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        let call = Array(Self.status.utf8) + [0]
        var sent = 0
        // The server stops reading, and then the kernel's buffer fills.
        for _ in 0..<200 {
            let calls = Array(repeating: call, count: 100).flatMap { $0 }
            let count = client.send(calls, waits: false)
            sent += count
            guard count == calls.count else { break }
            usleep(1000)
        }
        #expect(sent < 200 * 100 * call.count)
        try expectService(server)
        for _ in 0..<(sent / call.count) { _ = try client.next() }
    }

    @Test func `only authorized callers reload the configuration, and they get its mistakes`() throws {
        let call = #"{"method":"io.reach.Monitor.Reload"}"#
        let server = try TestServer()
        let client = try RawClient(server.path)
        #expect(try client.call(call)["parameters"]?["at_next_start"] == .array([.string("[limits]")]))
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
