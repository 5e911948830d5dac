import ReachCore
import Testing

@testable import ReachControl

/// Clients that say that they wait for a path (the parameter `waiting` of Watch).
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
    private func waiter(_ server: TestServer, _ parameters: String) throws -> RawClient {
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Watch","parameters":{\#(parameters)},"more":true}"#)
        _ = try client.nextEvent()
        return client
    }

    @Test func `there is one search for a path, however many clients wait, and none while no one does`() throws {
        let server = try TestServer()
        for number in 1...2 {
            let watching = try waiter(server, #""target":"192.0.2.9""#)
            let idle = try waiter(server, #""waiting":false"#)
            #expect(server.run { service, _ in service.searches.begun } == number - 1)
            let crowd = try (0..<50).map {
                try waiter(server, #""target":"192.0.2.\#($0 % 3)","waiting":true"#)
            }
            #expect(server.run { service, _ in service.searches.begun } == number)
            crowd.dropFirst().forEach { $0.hangUp() }
            #expect(server.wait { $0.connections == 3 })
            #expect(server.run { service, _ in service.searches.ended } == number - 1)
            crowd[0].hangUp()
            #expect(server.wait { $0.connections == 2 })
            #expect(server.run { service, _ in service.searches.ended } == number)
            [watching, idle].forEach { $0.hangUp() }
        }
    }

    @Test func `a wrong value is refused, and begins no search`() throws {
        let server = try TestServer()
        let client = try RawClient(server.path)
        client.send(#"{"method":"io.reach.Monitor.Watch","parameters":{"waiting":1},"more":true}"#)
        #expect(try client.next()["error"] == .string("org.varlink.service.InvalidParameter"))
        #expect(server.run { service, _ in service.searches.begun } == 0)
    }
}
