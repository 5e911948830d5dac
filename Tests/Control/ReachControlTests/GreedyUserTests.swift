import Foundation
import ReachCore
import ReachTesting
import Testing

@testable import ReachControl

/// Clients that demand more than their share.
@Suite struct GreedyUserTests {
    private static let status = #"{"method":"io.reach.Monitor.Status"}"#

    @Test func `a one-way call is over before the next call is read`() throws {
        let server = try TestServer()
        server.run { service, _ in service.answersLater = true }
        let client = try RawClient(server.path)
        for _ in 0..<100 { client.send(#"{"method":"io.reach.Monitor.Status","oneway":true}"#) }
        client.send(#"{"method":"org.varlink.service.GetInfo"}"#)
        func answerAll() -> Int {
            server.run { service, _ in
                let questions = service.openQuestions
                service.openQuestions = []
                for question in questions { question(.failure(.cannotObserve(reason: "no"))) }
                return questions.count
            }
        }
        var counts: [Int] = []
        while counts.reduce(0, +) < 100 {
            let count = answerAll()
            if count > 0 { counts.append(count) }
            guard counts.allSatisfy({ $0 == 1 }) else { break }
        }
        #expect(counts == Array(repeating: 1, count: 100))
        #expect(try client.next()["parameters"]?["product"] == .string("test"))
    }

    @Test func `one-way calls are made one after the other even after their caller has hung up`() throws {
        let server = try TestServer()
        server.run { service, _ in service.answersLater = true }
        let client = try RawClient(server.path)
        for _ in 0..<20 { client.send(#"{"method":"io.reach.Monitor.Status","oneway":true}"#) }
        client.send(#"{"method":"io.reach.Monitor.Reload","oneway":true}"#)
        client.hangUp()
        var answered = 0
        let isDone = server.wait { _ in
            server.run { service, _ in
                let questions = service.openQuestions
                service.openQuestions = []
                answered += questions.count
                for question in questions { question(.failure(.cannotObserve(reason: "no"))) }
                return service.reloads.count == 1
            }
        }
        #expect(isDone && answered == 20)
        #expect(server.wait { $0.connections == 0 })
    }

    @Test func `a connection counts until its last call is over, even after its caller has hung up`() throws {
        var limits = ControlLimits()
        limits.connectionsPerUser = 3
        let server = try TestServer(limits: limits)
        server.run { service, _ in service.answersLater = true }
        for _ in 0..<3 {
            let client = try RawClient(server.path)
            let before = server.run { service, _ in service.openQuestions.count }
            client.send(Self.status)
            #expect(server.wait { _ in server.run { service, _ in service.openQuestions.count } > before })
            client.hangUp()
        }
        #expect(server.wait { $0.connections == 0 })
        let refused = try RawClient(server.path)
        #expect(try refused.next()["error"] == .string("io.reach.Monitor.TooManyConnections"))
        server.run { service, _ in
            for question in service.openQuestions { question(.failure(.cannotObserve(reason: "no"))) }
            service.answersLater = false
        }
        let client = try RawClient(server.path)
        #expect(try client.call(Self.status)["parameters"] != nil)
    }

    @Test func `a user has two costly calls at a time, over any number of connections`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { $0.answersLater = true }
        let clients = try (0..<50).map { _ in try RawClient(server.path) }
        for client in clients { client.send(#"{"method":"io.reach.Queue.List"}"#) }
        var most = 0
        var answered = 0
        let isDone = server.wait { _ in
            server.queue { queue in
                most = max(most, queue.waiting.count)
                answered += queue.answerAll()
            }
            return answered == 50
        }
        #expect(isDone && most == 2)
        for client in clients { #expect(try client.next()["parameters"]?["requests"] != nil) }
        // The server makes no costly call for a client that has hung up.
        server.queue { $0.filters.removeAll() }
        let waiting = try (0..<10).map { _ in try RawClient(server.path) }
        for client in waiting { client.send(#"{"method":"io.reach.Queue.List"}"#) }
        #expect(server.wait { _ in server.queue { $0.filters.count } == 2 })
        #expect(try RawClient(server.path).call(Self.status)["parameters"] != nil)
        waiting.forEach { $0.hangUp() }
        #expect(server.wait { $0.connections == 50 })
        server.queue { _ = $0.answerAll() }
        #expect(try clients[0].call(Self.status)["parameters"] != nil)
        #expect(server.queue { $0.filters.count } == 2)
    }

    @Test func `costly calls that want no answer are not made, and none is left when their caller has gone`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { $0.answersLater = true }
        let client = try RawClient(server.path)
        for _ in 0..<500 { client.send(#"{"method":"io.reach.Queue.List","oneway":true}"#) }
        #expect(try client.call(Self.status)["parameters"] != nil)
        for _ in 0..<500 { client.send(#"{"method":"io.reach.Queue.List","oneway":true}"#) }
        client.hangUp()
        #expect(server.wait { $0.connections == 0 })
        #expect(server.queue { $0.filters.count } == 0)
    }

    @Test func `a page is short, whatever limit the call names`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { queue in for id in 1...1000 { queue.items[Int64(id)] = .waiting(Int64(id)) } }
        let client = try RawClient(server.path)
        var after: Int64? = 0
        var (count, pages) = (0, 0)
        while let last = after {
            let page = try client.call(
                #"{"method":"io.reach.Queue.List","parameters":{"limit":1000,"after":\#(last)}}"#)["parameters"]
            count += page?["requests"]?.array?.count ?? 0
            pages += 1
            after = page?["next"]?.integer
        }
        #expect(count == 1000 && pages == 4)
    }

    @Test func `a user has 16 changes of the queue at a time, over any number of connections`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { $0.answersLater = true }
        let clients = try (0..<80).map { _ in try RawClient(server.path) }
        for client in clients { client.send(#"{"method":"io.reach.Queue.Add","parameters":{"url":"http://a/"}}"#) }
        #expect(server.wait { _ in server.queue { $0.waiting.count } >= 16 })
        // Other calls are answered meanwhile; a call that reads goes through a gate of its own.
        #expect(try RawClient(server.path).call(Self.status)["parameters"] != nil)
        #expect(server.queue { $0.requests.count } == 16)
        var answered = 0
        #expect(
            server.wait { _ in
                server.queue { answered += $0.answerAll() }
                return answered == 80
            })
        for client in clients { #expect(try client.next()["parameters"]?["receipt"] != nil) }
    }

    @Test func `work on a call stops when its caller has hung up`() throws {
        let server = try TestServer(hasQueue: true)
        server.queue { $0.listsInParts = true }
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Queue.List"}"#)
        #expect(server.wait { _ in server.queue { $0.parts.count } == 1 })
        client.hangUp()
        #expect(server.wait { $0.connections == 0 })
        server.queue { $0.continueParts() }
        let other = try RawClient(server.path)
        #expect(try other.call(Self.status)["parameters"] != nil)
        #expect(server.queue { $0.finishedLists } == 0)
        // The call is over: the user's next one is made.
        server.queue { $0.listsInParts = false }
        for _ in 0..<3 {
            #expect(try other.call(#"{"method":"io.reach.Queue.List"}"#)["parameters"]?["requests"] != nil)
        }
    }
}
