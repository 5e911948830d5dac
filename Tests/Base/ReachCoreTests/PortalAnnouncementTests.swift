import ReachCore
import Testing

/// What routers announce, in the table of the network.
@Suite struct PortalAnnouncementTests {
    private var up: Link {
        var link = Link(index: 2, name: "eth0")
        link.flags = [.up, .running, .lowerUp]
        return link
    }

    private func router(_ number: Int) throws -> IPAddress { try #require(IPAddress("fe80::\(number)")) }

    private func announced(_ uri: String = "https://a.example/", by number: Int = 1) throws -> Notice {
        .portal(PortalAnnouncement(interface: 2, router: try router(number), uri: uri))
    }

    private func table() -> NetworkTable {
        var table = NetworkTable()
        _ = table.apply(.link(up))
        return table
    }

    private func routes(by number: Int = 1) throws -> [DefaultRoute] {
        try [IPAddress.Family.ipv4, .ipv6].map { family in
            var route = DefaultRoute(
                key: .init(family: family, interface: 2), name: "eth0",
                traits: PathTraits(linkClass: .wired, isMetered: false))
            route.gateway = family == .ipv4 ? IPAddress("192.0.2.1") : try router(number)
            return route
        }
    }

    private func gone(_ number: Int, _ prefix: String = "::/0") throws -> Notice {
        var route = Route(destination: try #require(IPPrefix(prefix)))
        route.hops = [NextHop(interface: 2, gateway: try router(number))]
        return .routeRemoved(route)
    }

    @Test func `an announcement is a change once, and another value replaces it`() throws {
        var table = table()
        #expect(table.apply(try announced()) == .init(cause: .router, interface: 2))
        #expect(table.apply(try announced()) == nil)
        #expect(table.apply(try announced("https://b.example/")) == .init(cause: .router, interface: 2))
        #expect(table.addingPortals(to: try routes()).map(\.portalURI) == ["https://b.example/", "https://b.example/"])
    }

    @Test func `only a default router's announcement counts, in both families`() throws {
        var table = table()
        _ = table.apply(try announced(by: 2))
        #expect(table.addingPortals(to: try routes(by: 1)).allSatisfy { $0.portalURI == nil })
        #expect(table.addingPortals(to: try routes(by: 2)).allSatisfy { $0.portalURI == "https://a.example/" })
    }

    @Test func `the end of a router's lifetime forgets what it announced`() throws {
        var table = table()
        _ = table.apply(try announced())
        _ = table.apply(try gone(1, "2001:db8::/64"))
        _ = table.apply(try gone(2))
        #expect(table.portals[2]?.count == 1)
        _ = table.apply(try gone(1))
        #expect(table.portals[2]?.isEmpty == true)
    }

    @Test func `a link that goes down or away forgets, and one that is down hears nothing`() throws {
        var down = up
        down.flags = []
        for end in [Notice.link(down), .linkRemoved(2)] {
            var table = table()
            _ = table.apply(try announced())
            _ = table.apply(end)
            #expect(table.portals[2] == nil)
            #expect(table.apply(try announced()) == nil)
        }
    }

    @Test func `forged routers cannot fill the memory, nor keep the real one out`() throws {
        var table = table()
        for number in 1...100 { _ = table.apply(try announced(by: number)) }
        #expect(table.portals[2]?.count == 8)
        #expect(table.addingPortals(to: try routes(by: 1)).first?.portalURI == nil)
        // Routers repeat what they announce.
        _ = table.apply(try announced(by: 1))
        #expect(table.portals[2]?.count == 8)
        #expect(table.addingPortals(to: try routes(by: 1)).first?.portalURI != nil)
    }

    @Test func `a table that is read again keeps the announcements of links that are up`() throws {
        var old = table()
        _ = old.apply(try announced())
        var fresh = table()
        fresh.keepPortals(of: old)
        #expect(fresh.portals == old.portals)
        var empty = NetworkTable()
        empty.keepPortals(of: old)
        #expect(empty.portals.isEmpty)
    }
}
