import ReachCore
import ReachTesting
import Testing

@Suite struct NetworkTableLinkTests {
    private func apply(_ notices: [Notice], to table: inout NetworkTable) -> [NetworkTable.Effect] {
        notices.compactMap { table.apply($0) }
    }

    @Test func `a link added, repeated, and removed twice has two effects`() {
        var table = NetworkTable()
        let effects = apply(
            [.link(.up(2, "eth0")), .link(.up(2, "eth0")), .linkRemoved(2), .linkRemoved(2)], to: &table)
        #expect(effects.map(\.cause) == [.linkAdded, .linkRemoved])
        #expect(effects.map(\.interface) == [2, 2])
        #expect(table == NetworkTable())
    }

    @Test func `a second link leaves the first alone, and the removal of an unknown one changes nothing`() {
        var table = NetworkTable()
        _ = apply([.link(.up(2, "eth0")), .link(.up(3, "eth1"))], to: &table)
        let before = table
        #expect(table.apply(.linkRemoved(4)) == nil)
        #expect(table == before)
        #expect(table.links.count == 2)
    }

    @Test(arguments: [
        (Link.up(2, "eth0"), Link.up(2, "eth0").takenDown, Cause.linkDown),
        (.up(2, "eth0").takenDown, .up(2, "eth0"), .linkUp),
        (.up(2, "eth0"), .up(2, "eth0").withoutCarrier, .carrierLost),
        (.up(2, "eth0").withoutCarrier, .up(2, "eth0"), .carrierGained),
        (.up(2, "eth0"), .up(2, "eth0").handshaking, .carrierLost),
        (.up(2, "eth0").withoutCarrier, .up(2, "eth0").takenDown, .linkDown),
        (.up(2, "eth0"), .up(2, "eth0").with { $0.mtu = 9000 }, .linkChanged),
        (.up(2, "eth0"), .up(2, "eth0", portOf: 5), .linkChanged),
    ])
    func `the cause follows from the link's old and new state`(old: Link, new: Link, cause: Cause) {
        var table = NetworkTable()
        _ = table.apply(.link(old))
        #expect(table.apply(.link(new)) == NetworkTable.Effect(cause: cause, interface: 2))
        #expect(table.apply(.link(new)) == nil, "a repetition")
    }

    @Test func `a notice without the operational state keeps the known one`() {
        var table = NetworkTable()
        _ = table.apply(.link(.up(2, "eth0")))
        let silent = Link.up(2, "eth0").with { $0.operationalState = nil }
        #expect(table.apply(.link(silent)) == nil)
        #expect(table.links[2]?.operationalState == .up)
        _ = table.apply(.link(silent.with { $0.mtu = 1400 }))
        #expect(table.links[2]?.operationalState == .up)
        #expect(table.links[2]?.mtu == 1400)
    }

    @Test func `a renamed link is the same link`() {
        var table = NetworkTable()
        _ = table.apply(.link(.up(2, "eth0")))
        #expect(table.apply(.link(.up(2, "uplink"))) == NetworkTable.Effect(cause: .linkChanged, interface: 2))
        #expect(table.link(named: "eth0") == nil)
        #expect(table.link(named: "uplink")?.index == 2)
        #expect(table.links.count == 1)
    }

    @Test func `a reused index is another link, without the addresses of the first`() {
        var table = NetworkTable()
        let address = InterfaceAddress(interface: 2, address: IPAddress(ipv4: 1), prefixLength: 24)
        _ = apply([.link(.up(2, "eth0")), .address(address), .linkRemoved(2), .link(.up(2, "wlan0"))], to: &table)
        #expect(table.link(named: "wlan0")?.index == 2)
        #expect(table.addresses == [:])
    }

    @Test(arguments: [258, 65_538, 16_777_218, InterfaceIndex.max])
    func `indexes with equal low bytes are two links`(index: InterfaceIndex) {
        var table = NetworkTable()
        _ = table.apply(.link(.up(index & 0xff, "eth0")))
        _ = table.apply(.link(.up(index, "eth1")))
        #expect(table.apply(.link(.up(index, "eth1").takenDown))?.interface == index)
        #expect(table.link(named: "eth0")?.isUp == true)
        #expect(table.link(named: "eth1")?.isUp == false)
    }

    @Test func `a link is found by its name before another's alternative name`() {
        var table = NetworkTable()
        _ = table.apply(.link(.up(2, "eth0").with { $0.alternativeNames = ["uplink", "eth1"] }))
        #expect(table.link(named: "eth1")?.index == 2)
        _ = table.apply(.link(.up(3, "eth1")))
        #expect(table.link(named: "eth1")?.index == 3)
        #expect(table.link(named: "uplink")?.index == 2)
        #expect(table.link(named: "") == nil)
    }

    @Test func `a dump that is replayed changes nothing`() {
        let dump: [Notice] = (1...300 as ClosedRange<InterfaceIndex>).flatMap { number -> [Notice] in
            let address = InterfaceAddress(
                interface: number, address: IPAddress(ipv4: UInt32(number)), prefixLength: 24)
            return [.link(.up(number, "veth\(number)", kind: "veth")), .address(address)]
        }
        var table = NetworkTable()
        #expect(apply(dump, to: &table).count == 600)
        let before = table
        #expect(apply(dump.shuffled(), to: &table) == [])
        #expect(table == before)
    }

    @Test func `routes, rules and nexthop objects are hints and are not stored`() {
        let route = Route(destination: .anywhere)
        var viaTwo = route
        viaTwo.hops = [NextHop(interface: 2), NextHop(interface: 3)]
        var table = NetworkTable()
        let effects = apply(
            [
                .route(viaTwo, replacesOther: false), .route(viaTwo, replacesOther: true), .routeRemoved(viaTwo),
                .route(route, replacesOther: false), .rule(Rule(family: .ipv4, priority: 1)),
                .ruleRemoved(Rule(family: .ipv4, priority: 1)), .nexthop(id: 1), .nexthopRemoved(id: 1),
                .setting(family: .ipv6, interface: 2), .setting(family: .ipv6, interface: nil),
            ], to: &table)
        #expect(
            effects.map(\.cause) == [
                .routeAdded, .routeReplaced, .routeRemoved, .routeAdded, .ruleAdded, .ruleRemoved, .nexthopAdded,
                .nexthopRemoved, .setting, .setting,
            ])
        #expect(effects.map(\.interface) == [2, 2, 2, nil, nil, nil, nil, nil, 2, nil])
        #expect(table == NetworkTable())
    }
}
