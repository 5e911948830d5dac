import ReachCore
import ReachTesting
import Testing

@Suite struct PathJudgeSourceTests {
    private let machine = Machine()

    private func path(from source: String?, to destination: IPAddress = Machine.far) throws -> NetworkPath {
        let source = try source.map { try #require(IPAddress($0)) }
        return machine.path(.answer(on: 2, via: Machine.routerLocal, from: source), to: destination)
    }

    @Test(arguments: [nil, "0.0.0.0", "127.0.0.1"])
    func `IPv4 needs a source that is not a loopback address`(source: String?) throws {
        #expect(try path(from: source, to: Machine.documentation).reason == .noAddress)
    }

    @Test(arguments: [nil, "::", "::1", "fe80::2"])
    func `IPv6 needs a source beyond ::1 and link-local addresses`(source: String?) throws {
        #expect(try path(from: source).reason == .noAddress)
    }

    @Test func `a link-local source is enough for the link`() throws {
        let neighbour = try #require(IPAddress("fe80::99"))
        let allNodes = try #require(IPAddress("ff02::1"))
        for destination in [neighbour, allNodes] {
            let route = Route.answer(on: 2, via: nil, from: IPAddress("fe80::2"))
            #expect(machine.path(route, to: destination, isInternet: false).status == .reachable)
        }
    }

    @Test(
        arguments: [
            ([], nil), ([.tentative], .noAddress), ([.tentative, .optimistic], nil), ([.duplicate], .noAddress),
            ([.duplicate, .tentative], .noAddress), ([.deprecated], nil),
            ([.deprecated, .tentative], .noAddress),
        ] as [(InterfaceAddress.Flags, Reason?)])
    func `an IPv6 source must be ready, and may be deprecated`(flags: InterfaceAddress.Flags, reason: Reason?) {
        var machine = Machine()
        machine.add(Machine.own, to: 2, length: 64, flags: flags)
        let path = machine.path(.answer(on: 2, via: Machine.routerLocal, from: Machine.own), to: Machine.far)
        #expect(path.reason == reason)
        #expect(path.source == Machine.own)
    }

    @Test func `an interface with a deprecated address works, and sends from another where it has one`() {
        var machine = Machine()
        let deprecated = IPAddress(ipv6: 0x2001_0db8_0000_0003, 3)
        machine.add(deprecated, to: 3, length: 64, flags: .deprecated)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).source == deprecated)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).status == .reachable)
        let preferred = IPAddress(ipv6: 0x2001_0db8_0000_0003, 4)
        machine.add(preferred, to: 3, length: 64)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).source == preferred)
    }

    @Test func `a deprecated source is enough for the link`() throws {
        var machine = Machine()
        machine.add(Machine.own, to: 2, length: 64, flags: .deprecated)
        let route = Route.answer(on: 2, via: nil, from: Machine.own)
        #expect(machine.path(route, to: try #require(IPAddress("fe80::99")), isInternet: false).status == .reachable)
    }

    @Test func `what stays on this machine needs no source that others could answer`() throws {
        var machine = Machine()
        machine.add(Machine.own, to: 2, length: 64, flags: .tentative)
        let local = Route.answer(on: 2, via: nil, from: Machine.own, type: .local)
        #expect(machine.path(local, to: Machine.own, isInternet: false).status == .reachable)
        let group = Route.answer(on: 1, via: nil, from: IPAddress(ipv4: 0x7f00_0001), type: .multicast)
        let allHosts = try #require(IPAddress("224.0.0.1"))
        #expect(machine.path(group, to: allHosts, isInternet: false).status == .reachable)
    }

    @Test func `a source without a notice so far counts as usable`() throws {
        #expect(try path(from: "2001:db8::77").status == .reachable)
    }

    @Test func `an address that is a duplicate on one link works on another`() {
        // Tested with many links, because the order of a dictionary is random.
        for other in 3...20 as ClosedRange<InterfaceIndex> {
            var machine = Machine()
            machine.add(Machine.own, to: other, length: 64, flags: [.tentative, .duplicate])
            let path = machine.path(.answer(on: 2, via: Machine.routerLocal, from: Machine.own), to: Machine.far)
            #expect(path.status == .reachable)
        }
    }

    @Test func `an interface works in a family with a preferred address`() {
        var machine = Machine()
        machine.add(IPAddress(ipv6: 0xfe80_0000_0000_0000, 3), to: 3, length: 64)
        // The kernel gives a link-local address the scope of the link.
        _ = machine.table.apply(
            .address(
                InterfaceAddress(
                    interface: 3, address: IPAddress(ipv6: 0xfe80_0000_0000_0000, 3), prefixLength: 64,
                    scope: InterfaceAddress.linkScope)))
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).reason == .noAddress)
        let global = IPAddress(ipv6: 0x2001_0db8_0000_0003, 3)
        machine.add(global, to: 3, length: 64, flags: .tentative)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).reason == .noAddress)
        machine.add(global, to: 3, length: 64)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv6).source == global)
        #expect(machine.judge.path(ofInterface: 3, family: .ipv4).reason == .noAddress, "IPv6 does not help IPv4")
    }

    @Test func `the loopback interface works with its own address`() {
        var machine = Machine()
        machine.add(IPAddress(ipv4: 0x7f00_0001), to: 1, length: 8)
        #expect(machine.judge.path(ofInterface: 1, family: .ipv4).status == .reachable)
    }
}
