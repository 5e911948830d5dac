import ReachCore
import Testing

@Suite struct NetworkTableNeighbourTests {
    private let gateway = Neighbour.Key(interface: 2, address: IPAddress(ipv4: 0xc000_0201))
    private let other = Neighbour.Key(interface: 3, address: IPAddress(ipv4: 0xc000_0201))

    private func table(_ state: NeighbourState) -> NetworkTable {
        var table = NetworkTable()
        table.setNeighbour(gateway, to: state)
        return table
    }

    @Test func `a neighbour on which no path depends is not stored`() {
        var table = NetworkTable()
        #expect(table.apply(.neighbour(Neighbour(key: gateway, state: .failed))) == nil)
        #expect(table.neighbours == [:])
        table.setNeighbour(gateway, to: .reachable)
        #expect(table.apply(.neighbour(Neighbour(key: other, state: .failed))) == nil)
        #expect(table.neighbours == [gateway: .reachable])
    }

    @Test func `a neighbour's new state is reported once, with its interface`() {
        var table = table(.reachable)
        let notice = Notice.neighbour(Neighbour(key: gateway, state: .failed))
        #expect(table.apply(notice) == NetworkTable.Effect(cause: .neighbour, interface: 2))
        #expect(table.apply(notice) == nil)
        #expect(table.neighbours[gateway] == .failed)
    }

    @Test func `a link that is gone takes what is known of its gateways along`() {
        var table = NetworkTable()
        let route = DefaultRoute.Key(family: .ipv4, interface: 2)
        table.gateways.note(gateway.address, of: route)
        #expect(table.apply(.linkRemoved(2)) == nil)
        #expect(!table.gateways.knows(gateway.address, of: route) && table.gateways.neighbours.isEmpty)
    }

    @Test func `a failed gateway that the kernel queries again stays failed`() {
        var table = table(.failed)
        #expect(table.apply(.neighbour(Neighbour(key: gateway, state: .incomplete))) == nil)
        #expect(table.neighbours[gateway] == .failed)
        #expect(table.apply(.neighbour(Neighbour(key: gateway, state: .reachable)))?.cause == .neighbour)
        #expect(table.neighbours[gateway] == .reachable)
    }

    @Test(arguments: [NeighbourState.none, .reachable, .stale, .delay, .probe])
    func `a first query makes any other state incomplete`(before: NeighbourState) {
        var table = table(before)
        #expect(table.apply(.neighbour(Neighbour(key: gateway, state: .incomplete)))?.cause == .neighbour)
        #expect(table.neighbours[gateway] == .incomplete)
    }

    @Test func `an entry that the kernel removed has the state none`() {
        var table = table(.failed)
        #expect(table.apply(.neighbourRemoved(gateway))?.cause == .neighbour)
        #expect(table.neighbours[gateway] == NeighbourState.none)
        #expect(table.apply(.neighbourRemoved(gateway)) == nil)
    }

    // The kernel keeps such an entry as failed until something is sent, and no one could answer without a carrier.
    @Test func `a failure is forgotten when its link can be used again`() {
        var table = table(.failed)
        table.setNeighbour(other, to: .failed)
        var link = Link(index: 2, name: "eth0")
        for flags in [[.up, .lowerUp, .running], [.up], [.up, .lowerUp, .running]] as [Link.Flags] {
            link.flags = flags
            _ = table.apply(.link(link))
        }
        #expect(table.neighbours == [gateway: NeighbourState.none, other: .failed])
    }

    @Test func `neighbours on which no path depends any more are removed`() {
        var table = table(.failed)
        table.setNeighbour(other, to: .reachable)
        table.keepNeighbours([other])
        #expect(table.neighbours == [other: .reachable])
        table.keepNeighbours([other, gateway])
        #expect(table.neighbours == [other: .reachable])
        table.keepNeighbours([])
        #expect(table.neighbours == [:])
    }

    @Test(
        arguments: [
            (0, .none), (1, .incomplete), (2, .reachable), (4, .stale), (8, .delay), (0x10, .probe), (0x20, .failed),
            (0x40, .noarp), (0x80, .permanent), (0x100, .none), (0xffff, .none),
        ] as [(UInt16, NeighbourState)])
    func `each bit of linux neighbour h has its state`(bits: UInt16, state: NeighbourState) {
        #expect(NeighbourState(kernel: bits) == state)
    }
}
