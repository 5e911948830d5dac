import ReachCore
import Testing

@Suite struct IdleLinksTests {
    private var table = NetworkTable()
    private var idle = IdleLinks()
    private var carrying: Set<InterfaceIndex>? = [2]

    /// Whether the notice is folded; the table has it afterwards.
    private mutating func folds(_ notice: Notice) -> Bool {
        let result = idle.folds(notice, in: table) { [carrying] in carrying }
        _ = table.apply(notice)
        return result
    }

    private func link(_ index: InterfaceIndex, controller: InterfaceIndex? = nil, isUp: Bool = false) -> Notice {
        var link = Link(index: index, name: "c\(index)")
        link.controller = controller
        if isUp { link.flags = [.up, .running, .lowerUp] }
        return .link(link)
    }

    private func address(_ text: String, on index: InterfaceIndex) throws -> InterfaceAddress {
        InterfaceAddress(
            interface: index, address: try #require(IPAddress(text)), prefixLength: 24, scope: 0, flags: [])
    }

    private func route(_ prefix: String, by index: InterfaceIndex?) throws -> Route {
        var route = Route(destination: try #require(IPPrefix(prefix)))
        route.hops = index.map { [NextHop(interface: $0)] } ?? []
        return route
    }

    @Test mutating func `the whole life of a container's link is folded`() throws {
        #expect(folds(.setting(family: .ipv4, interface: 7)), "it is announced before the link")
        #expect(folds(link(7)))
        #expect(folds(.setting(family: .ipv6, interface: 7)))
        #expect(folds(link(7, isUp: true)))
        #expect(folds(.address(try address("fe80::7", on: 7))))
        #expect(folds(link(7, controller: 9, isUp: true)), "a bridge that carries nothing")
        #expect(folds(.linkRemoved(7)))
        #expect(!folds(.linkRemoved(7)), "nobody knows it any more")
    }

    @Test mutating func `a link counts from its first address or route on`() throws {
        #expect(folds(link(7)) && folds(link(8)) && folds(link(9)))
        #expect(!folds(.address(try address("198.51.100.7", on: 7))))
        #expect(!folds(link(7, isUp: true)))
        #expect(!folds(.route(try route("0.0.0.0/0", by: 8), replacesOther: false)))
        #expect(!folds(link(8, isUp: true)) && !folds(.linkRemoved(8)))
        #expect(folds(link(9, isUp: true)))
        #expect(!folds(.route(try route("0.0.0.0/0", by: nil), replacesOther: false)), "by a nexthop object")
        #expect(!folds(link(9)))
    }

    @Test mutating func `a tunnel counts, since it may carry names of an intranet without an address`() throws {
        for (index, kind) in zip(7..., ["wireguard", "tun", "xfrm"]) {
            var tunnel = Link(index: InterfaceIndex(index), name: "t\(index)")
            tunnel.kind = kind
            #expect(!folds(.link(tunnel)))
            tunnel.flags = [.up, .running, .lowerUp]
            #expect(!folds(.link(tunnel)))
            #expect(!folds(.address(try address("fe80::7", on: tunnel.index))))
        }
        #expect(folds(link(6)), "a container's link still does not")
    }

    @Test mutating func `a link that carries a path counts, and so do its ports`() {
        #expect(folds(link(7)))
        carrying = [2, 7]
        #expect(!folds(link(7, isUp: true)))
        carrying = [2]
        #expect(!folds(link(8, controller: 2)), "a port of the bridge 2")
        #expect(!folds(link(8)), "no longer a port of it")
        #expect(folds(link(8, isUp: true)))
        carrying = [2]
        #expect(!folds(link(8, controller: 2)) && !folds(.linkRemoved(8)))
    }

    @Test mutating func `every link counts while a target is not reachable, and old ones do anyway`() {
        #expect(folds(link(7)))
        carrying = nil
        #expect(!folds(link(7, isUp: true)) && !folds(.setting(family: .ipv4, interface: 8)))
        carrying = [2]
        #expect(folds(link(7)))
        idle = IdleLinks()
        #expect(!folds(link(7, isUp: true)))
    }

    @Test mutating func `what concerns no single link counts`() throws {
        #expect(!folds(.nexthop(id: 1)) && !folds(.setting(family: .ipv4, interface: nil)))
        #expect(folds(link(7)))
        #expect(!folds(.nexthopRemoved(id: 1)) && !folds(link(7, isUp: true)), "it may have been the link's")
    }
}
