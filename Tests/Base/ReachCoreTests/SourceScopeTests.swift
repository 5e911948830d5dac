import ReachCore
import ReachTesting
import Testing

struct SourceScopeTests {
    @Test(
        arguments: [
            ("192.0.2.2", "203.0.113.9", nil, true, true), ("169.254.7.7", "169.254.1.1", nil, true, true),
            ("169.254.7.7", "203.0.113.9", nil, true, false), ("169.254.7.7", "224.0.0.251", nil, true, true),
            ("169.254.7.7", "203.0.113.9", nil, false, true), ("169.254.7.7", "203.0.113.9", "169.254.7.8", true, true),
            ("169.254.7.7", "192.168.5.5", nil, true, true),
            ("fe80::2", "2001:db8::9", "fe80::1", true, false), ("fe80::2", "fe80::9", nil, false, true),
            ("fe80::2", "ff02::1", nil, false, true), ("fd00::2", "2001:db8::9", "fe80::1", true, true),
        ] as [(String, String, String?, Bool, Bool)])
    func `a link-local source reaches its link, and what a gateway of IPv4 may translate`(
        source: String, destination: String, gateway: String?, isByDefault: Bool, reaches: Bool
    ) throws {
        func reached(resolves: Bool) throws -> Bool {
            SourceScope.reaches(
                try #require(IPAddress(destination)), from: try #require(IPAddress(source)),
                via: gateway.flatMap { IPAddress($0) }, isByDefault: isByDefault, resolves: resolves)
        }
        #expect(try reached(resolves: true) == reaches)
        let isWide = !source.hasPrefix("fe80") || destination.hasPrefix("f")
        #expect(try reached(resolves: false) == (reaches || isWide), "a tunnel may translate IPv4")
    }

    @Test func `a machine that gave itself an address reaches its link and no further, though it has a default route`()
        throws
    {
        let machine = Machine()
        let own = try #require(IPAddress("169.254.7.7"))
        let route = Route.answer(on: 2, via: nil, from: own)
        #expect(machine.path(route, to: Machine.documentation).reason == .noAddress)
        let neighbour = try #require(IPAddress("169.254.1.1"))
        #expect(machine.path(route, to: neighbour, isInternet: false).status == .reachable)
        #expect(machine.judge.dependsOnMatch(route, to: Machine.documentation))
        #expect(!machine.judge.dependsOnMatch(route, to: neighbour))
    }
}
