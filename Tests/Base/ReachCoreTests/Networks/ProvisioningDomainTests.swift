import ReachCore
import ReachTesting
import Testing

/// The domains that routers announce, and what is kept of them.
@Suite struct ProvisioningDomainTests {
    private static let gateway = IPAddress("fe80::1")

    @Test func `a domain is a host name, with or without a dot at its end, whatever its case`() {
        #expect(ProvisioningDomain("Office.Example.COM.") == ProvisioningDomain("office.example.com"))
        for text in ["", ".", "a..b", "a b", "é.example", String(repeating: "a", count: 64), "a.example/x"] {
            #expect(ProvisioningDomain(text) == nil, "\(text)")
        }
        let label = String(repeating: "a", count: 63)
        #expect(ProvisioningDomain([label, label, label, String(label.dropLast(2))].joined(separator: ".")) != nil)
        #expect(ProvisioningDomain([label, label, label, label].joined(separator: ".")) == nil)
    }

    /// A table with one link, whose default route in IPv6 has a gateway.
    private func table() throws -> NetworkTable {
        var table = NetworkTable()
        _ = table.apply(.link(.up(1, "lan0")))
        _ = table.noteGateway(
            try #require(Self.gateway), of: DefaultRoute.Key(family: .ipv6, interface: 1), nil)
        return table
    }

    private func announce(
        _ text: String?, from router: IPAddress? = gateway, _ table: inout NetworkTable
    ) throws -> NetworkTable.Effect? {
        let router = try #require(router)
        return table.apply(
            DomainAnnouncement(interface: 1, router: router, domain: text.flatMap { ProvisioningDomain($0) }))
    }

    private func domains(_ table: NetworkTable) -> [String] { table.identity(of: 1).domains.map(\.description) }

    @Test func `the gateway's last word counts, and a repetition changes nothing`() throws {
        var table = try table()
        #expect(try announce(nil, &table) == nil)
        #expect(try announce("office.example", &table)?.cause == .network)
        #expect(try announce("office.example", &table) == nil)
        #expect(domains(table) == ["office.example"])
        #expect(try announce("guests.example", &table) != nil && domains(table) == ["guests.example"])
        #expect(try announce(nil, &table) != nil && domains(table) == [] && table.domains.isEmpty)
    }

    @Test func `what other hosts on the link say does not count, and cannot keep the gateway's word out`() throws {
        var table = try table()
        _ = try announce("office.example", &table)
        for number in 0..<100 as Range<UInt64> {
            let forger = IPAddress(ipv6: 0xfe80 << 48, 0x100 + number)
            #expect(try announce("office\(number).example", from: forger, &table) == nil)
        }
        #expect(table.domains[1]?.count == 8)
        #expect(domains(table) == ["office.example"])
    }

    @Test func `a domain is forgotten with the link's carrier, and with the router's default route`() throws {
        var table = try table()
        _ = try announce("office.example", &table)
        var elsewhere = NetworkTable()
        _ = elsewhere.apply(.link(.up(1, "lan0")))
        elsewhere.keepDomains(of: table)
        #expect(elsewhere.domains == table.domains)
        var down = Link.up(1, "lan0")
        down.flags.remove(.lowerUp)
        _ = table.apply(.link(down))
        #expect(table.domains.isEmpty)
        #expect(try announce("office.example", &table) == nil)
        var route = Route(destination: try #require(IPPrefix("::/0")))
        route.hops = [NextHop(interface: 1, gateway: Self.gateway)]
        _ = elsewhere.apply(.routeRemoved(route))
        #expect(elsewhere.domains[1] ?? [] == [])
    }

    @Test func `a rule matches by the domain, and by all its other keys`() {
        var identity = NetworkIdentity()
        identity.domains = [ProvisioningDomain("office.example")].compactMap(\.self)
        var rule = NetworkRule(name: "office")
        rule.domains = [ProvisioningDomain("other.example"), ProvisioningDomain("OFFICE.example")].compactMap(\.self)
        #expect(network(of: identity, rule) == "office")
        #expect(network(of: NetworkIdentity(), rule) == nil)
        rule.prefixes = [IPPrefix("192.0.2.0/24")].compactMap(\.self)
        #expect(network(of: identity, rule) == nil)
        #expect(!NetworkPolicy(rules: [NetworkRule(name: "a")]).usesDomains && NetworkPolicy(rules: [rule]).usesDomains)
    }

    private func network(of identity: NetworkIdentity, _ rule: NetworkRule) -> String? {
        let policy = LinkPolicy(networks: NetworkPolicy(rules: [rule]))
        return LinkStack(.up(1, "lan0"), policy: policy, networks: [1: identity]).condition(of: 1).traits.network
    }
}
