import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachProbe

/// Checks of a path, and single requests of a check, by the loopback.
@Suite struct PathProbeTests {
    private static func route(_ family: IPAddress.Family = .ipv4) -> DefaultRoute {
        DefaultRoute(key: .init(family: family, interface: 1), name: "lo", traits: PathTraits())
    }

    private static let noContent = "HTTP/1.1 204 No Content\r\n\r\n"

    /// Runs until the body calls its argument, for ten seconds at most.
    private func run(_ body: (EventLoop, TransferEngine, @escaping () -> Void) -> Any) throws {
        let loop = try EventLoop()
        loop.schedule(at: SystemClock.boot + .seconds(10)) { loop.stop() }
        let kept = body(loop, try TransferEngine(loop: loop)) { loop.stop() }
        loop.run()
        withExtendedLifetime(kept) {}
    }

    /// What one check by a path says.
    private func check(_ port: UInt16, by route: DefaultRoute = route()) throws -> [Bool?] {
        let endpoint = try #require(ConnectivityEndpoint("http://127.0.0.1:\(port)/204"))
        var replies: [Bool?] = []
        try run { loop, transfers, end in
            let probe = PathProbe(loop: loop, endpoints: [endpoint], transfers: transfers)
            probe.ask(by: route, within: .seconds(10)) {
                replies.append($0)
                end()
            }
            return probe
        }
        return replies
    }

    @Test(arguments: [
        (noContent, true),
        ("HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\nContent-Length: 0\r\n\r\n", false),
        ("HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n", false), ("no http", false),
    ])
    func `a check says whether the Internet itself answers`(response: String, isInternet: Bool) throws {
        let server = try ScriptedServer {
            $0.readRequest()
            $0.write(response)
        }
        #expect(try check(server.port) == [isInternet])
        #expect(server.requests.values.count == 1)
    }

    @Test func `a refusal is no answer, and what cannot be asked by the path proves nothing`() throws {
        #expect(try check(TestProgram.freePort()) == [false])
        let server = try ScriptedServer { $0.write(Self.noContent) }
        #expect(try check(server.port, by: Self.route(.ipv6)) == [nil])
        #expect(server.requests.values.isEmpty)
    }

    @Test func `a request says who asks and what it accepts, and its answer is read as far as asked`() throws {
        let server = try ScriptedServer {
            $0.readRequest()
            $0.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789")
        }
        let endpoint = try #require(ConnectivityEndpoint("http://127.0.0.1:\(server.port)/a?b"))
        let form = EndpointAttempt.Form(accept: "application/captive+json", bodyBytes: 4)
        var outcomes: [EndpointAttempt.Outcome] = []
        try run { _, transfers, end in
            let attempt = EndpointAttempt(
                endpoint, form, by: Self.route(), until: SystemClock.boot + .seconds(10),
                resolver: transfers.resolver, transfers: transfers
            ) {
                outcomes.append($0)
                end()
            }
            attempt.begin()
            return attempt
        }
        let lines = server.requests.values.first?.split(separator: "\r\n").map(String.init) ?? []
        #expect(lines.first == "GET /a?b HTTP/1.1", "\(lines)")
        #expect(Set(lines).isSuperset(of: ["User-Agent: reach", "Accept: application/captive+json"]), "\(lines)")
        let outcome = try #require(outcomes.first)
        guard case .response(let response) = outcome.answer else { throw CancellationError() }
        #expect(response.status == 200 && response.body == Array("0123".utf8))
        #expect(outcome.remote == .init(address: IPAddress(ipv4: 0x7f00_0001), port: server.port))
        #expect(outcome.bytes >= 1204 && outcome.bytes < 7000 && (outcome.roundTrip ?? .zero) > .zero)
    }
}
