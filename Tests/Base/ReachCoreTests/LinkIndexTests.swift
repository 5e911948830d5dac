internal import ReachCore
internal import Testing

struct LinkIndexTests {
    private func link(_ index: InterfaceIndex, _ name: String, _ change: (inout Link) -> Void = { _ in }) -> Link {
        var link = Link(index: index, name: name)
        change(&link)
        return link
    }

    @Test func `two links that change their names are found by the new ones`() {
        var table = NetworkTable()
        for link in [link(2, "net0"), link(3, "net1"), link(2, "net9"), link(3, "net0"), link(2, "net1")] {
            _ = table.apply(.link(link))
        }
        #expect(table.link(named: "net0")?.index == 3)
        #expect(table.link(named: "net1")?.index == 2)
        #expect(table.link(named: "net9") == nil)
    }

    @Test func `a name comes before the same alternative name of another link`() {
        var table = NetworkTable()
        _ = table.apply(.link(link(2, "net0") { $0.alternativeNames = ["net1", "uplink"] }))
        _ = table.apply(.link(link(3, "net1")))
        #expect(table.link(named: "net1")?.index == 3)
        #expect(table.link(named: "uplink")?.index == 2)
        _ = table.apply(.linkRemoved(3))
        #expect(table.link(named: "net1")?.index == 2)
        _ = table.apply(.link(link(2, "net0")))
        #expect(table.link(named: "uplink") == nil)
    }

    @Test func `links that come one by one have the index of all of them`() {
        var table = NetworkTable()
        for number in InterfaceIndex(2)..<40 {
            _ = table.apply(.link(link(number, "p\(number)") { $0.kind = number % 3 == 0 ? "ppp" : "veth" }))
            _ = table.apply(.link(link(number, "p\(number)") { $0.controller = number % 2 == 0 ? 50 : nil }))
        }
        for number in InterfaceIndex(2)..<20 { _ = table.apply(.linkRemoved(number)) }
        #expect(table.index == LinkIndex(table.links.values))
    }

    @Test func `only addresses that mean something beyond the link make it one to send from`() throws {
        var table = NetworkTable()
        let own = InterfaceAddress(
            interface: 2, address: try #require(IPAddress("fe80::2")), prefixLength: 64, scope: 253)
        let wide = InterfaceAddress(interface: 2, address: try #require(IPAddress("192.0.2.2")), prefixLength: 24)
        _ = table.apply(.address(own))
        #expect(table.addressedLinks.isEmpty)
        _ = table.apply(.address(wide))
        #expect(table.addressedLinks == [2])
        _ = table.apply(.addressRemoved(wide))
        #expect(table.addressedLinks.isEmpty)
        _ = table.apply(.address(wide))
        _ = table.apply(.linkRemoved(2))
        #expect(table.addressedLinks.isEmpty)
    }
}
