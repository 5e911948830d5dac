import ReachCore
import ReachKernel
import ReachTesting
import Testing

/// A simulated kernel with a few links and addresses, which makes random changes and returns their notices.
private struct SimulatedKernel {
    var random: SeededGenerator
    private(set) var links: [InterfaceIndex: Link] = [:]
    private(set) var addresses: [InterfaceIndex: Set<InterfaceAddress>] = [:]

    private static let kinds = [nil, "vlan", "bridge", "bond", "wireguard"]
    private static let far = [nil, IPAddress(ipv4: 0x0a00_0001), IPAddress(ipv4: 0x0a00_0002)]

    /// All links and addresses, like a dump in no particular order.
    mutating func dump() -> [Notice] {
        links.values.map { .link($0) }.shuffled(using: &random)
            + addresses.values.joined().map { .address($0) }.shuffled(using: &random)
    }

    /// Makes a random change.
    ///
    /// - Returns: Its notices.
    mutating func step() -> [Notice] {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4: changeLink()
        case 4: removeLink()
        case 5..<8: changeAddress()
        case 8: removeAddress()
        default: chatter()
        }
    }

    private mutating func changeLink() -> [Notice] {
        let index = InterfaceIndex.random(in: 1...6, using: &random)
        var link = Link(index: index, name: "eth\(Int.random(in: 0...99, using: &random))")
        link.flags = random.pick([[], .up, [.up, .lowerUp], [.up, .lowerUp, .running], [.up, .running, .noARP]])
        link.operationalState = random.pick([.up, .down, .dormant, .unknown])
        link.hardwareAddress = random.oneIn(3) ? [] : [2, 0, 0, 0, 0, UInt8(index)]
        link.mtu = random.pick([1400, 1500, 9000])
        link.kind = random.pick(Self.kinds)
        link.lower = random.oneIn(3) ? index + 1 : nil
        link.controller = random.oneIn(4) ? index + 2 : nil
        link.alternativeNames = random.oneIn(4) ? ["alt\(index)", "other"] : []
        // Sometimes the kernel sends a notice without a change.
        if let old = links[index], random.oneIn(4) { link = old }
        links[index] = link
        return [.link(link)]
    }

    private mutating func removeLink() -> [Notice] {
        guard let index = links.keys.sorted().randomElement(using: &random) else { return [] }
        // Its addresses go with a notice or without.
        let gone = (addresses[index] ?? []).filter { _ in random.oneIn(2) }
        links[index] = nil
        addresses[index] = nil
        return gone.map { .addressRemoved($0) } + [.linkRemoved(index)]
    }

    private mutating func changeAddress() -> [Notice] {
        guard let index = links.keys.sorted().randomElement(using: &random) else { return [] }
        let number = UInt32.random(in: 1...3, using: &random)
        var address = InterfaceAddress(
            interface: index, address: random.oneIn(2) ? IPAddress(ipv4: number) : IPAddress(ipv6: 0, UInt64(number)),
            prefixLength: random.pick([24, 32]))
        address.peer = address.address.family == .ipv4 ? random.pick(Self.far) : nil
        address.flags = random.pick([
            [], .tentative, .deprecated, [.tentative, .duplicate], [.tentative, .optimistic],
        ])
        address.scope = random.pick([0, 253])
        let same = (addresses[index] ?? []).filter { Self.isSame($0, address) }
        addresses[index, default: []].subtract(same)
        addresses[index, default: []].insert(address)
        return [.address(address)]
    }

    private mutating func removeAddress() -> [Notice] {
        let all = addresses.values.joined().sorted { "\($0)" < "\($1)" }
        guard let address = all.randomElement(using: &random) else { return [] }
        addresses[address.interface]?.remove(address)
        if addresses[address.interface]?.isEmpty == true { addresses[address.interface] = nil }
        return [.addressRemoved(address)]
    }

    private mutating func chatter() -> [Notice] {
        let unknown = Neighbour.Key(interface: 1, address: IPAddress(ipv4: 9))
        return [
            random.pick([
                .neighbourRemoved(unknown), .linkRemoved(99), .nexthop(id: 1), .setting(family: .ipv4, interface: 3),
            ])
        ]
    }

    /// Whether the kernel would refuse the second address with EEXIST (fib_frontend.c, addrconf.c).
    private static func isSame(_ one: InterfaceAddress, _ other: InterfaceAddress) -> Bool {
        guard one.address == other.address else { return false }
        return one.address.family == .ipv6 || (one.prefixLength == other.prefixLength && one.peer == other.peer)
    }
}

extension Notice {
    /// Whether the table stores the notice's content, so that a repetition has no effect.
    fileprivate var isStored: Bool {
        switch self {
        case .link, .linkRemoved, .address, .addressRemoved, .neighbour, .neighbourRemoved: true
        default: false
        }
    }
}

@Suite struct NoticeReplayTests {
    /// The addresses, regardless of their order.
    private func contents(_ table: NetworkTable) -> [InterfaceIndex: Set<InterfaceAddress>] {
        table.addresses.mapValues { Set($0) }
    }

    private func table(applying notices: [Notice]) -> NetworkTable {
        notices.reduce(into: NetworkTable()) { _ = $0.apply($1) }
    }

    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func `encoding, parsing and applying notices keeps the table equal to a dump at every step`(seed: UInt64) {
        var kernel = SimulatedKernel(random: SeededGenerator(seed: seed))
        var encoder = NoticeEncoder(random: SeededGenerator(seed: seed))
        var table = NetworkTable()
        var datagram: [UInt8] = []
        for _ in 0..<400 {
            let notices = kernel.step()
            datagram += notices.flatMap { encoder.bytes(of: $0) }
            // One datagram may contain several messages.
            guard encoder.random.oneIn(2) else { continue }
            for notice in datagram.notices {
                let before = table
                let effect = table.apply(notice)
                if effect == nil { #expect(table == before, "a change without an effect") }
                let again = table.apply(notice)
                if notice.isStored { #expect(again == nil, "an effect of a repeated notice") }
            }
            datagram = []
            #expect(table.links == kernel.links)
            #expect(contents(table) == kernel.addresses)
            let dumped = self.table(applying: kernel.dump())
            #expect(dumped.links == table.links)
            #expect(contents(dumped) == contents(table))
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `the notices since the start of a dump correct what changed while it was read`(seed: UInt64) {
        var kernel = SimulatedKernel(random: SeededGenerator(seed: seed))
        for _ in 0..<40 { _ = kernel.step() }
        var queued: [Notice] = []
        var table = NetworkTable()
        // The subscription comes first; each part of the dump is newer than the part before.
        for remainder in 0..<3 as Range<InterfaceIndex> {
            for _ in 0..<6 { queued += kernel.step() }
            for notice in kernel.dump() {
                switch notice {
                case .link(let link) where link.index % 3 == remainder: _ = table.apply(notice)
                case .address(let address) where address.interface % 3 == remainder: _ = table.apply(notice)
                default: break
                }
            }
        }
        for notice in queued { _ = table.apply(notice) }
        #expect(table.links == kernel.links)
        #expect(contents(table) == kernel.addresses)
        // The kernel may repeat the old notices.
        for notice in queued { _ = table.apply(notice) }
        #expect(table.links == kernel.links)
        #expect(contents(table) == kernel.addresses)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `parsing returns the encoded routes, rules and neighbours`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var encoder = NoticeEncoder(random: SeededGenerator(seed: seed))
        func address(_ family: IPAddress.Family) -> IPAddress {
            IPAddress(bytes: random.bytes(family == .ipv4 ? 4 : 16)) ?? IPAddress(ipv4: 0)
        }
        for _ in 0..<300 {
            let family = random.pick(IPAddress.Family.allCases)
            guard let prefix = IPPrefix(address(family), length: .random(in: 0...family.bitCount, using: &random))
            else {
                continue
            }
            var route = Route(destination: prefix, type: random.pick([.unicast, .local, .blackhole, .unreachable]))
            route.table = random.pick([0, 254, 255, 1000, .max])
            route.metric = random.oneIn(2) ? UInt32.random(in: .min ... .max, using: &random) : nil
            route.origin = random.pick([2, 3, 16])
            route.source = random.oneIn(2) ? address(family) : nil
            route.nexthopObject = random.oneIn(3) ? 7 : nil
            for number in 0..<Int32.random(in: 0...4, using: &random) {
                let gateway = random.oneIn(3) ? nil : address(random.pick(IPAddress.Family.allCases))
                route.hops.append(
                    NextHop(
                        interface: number + 1, gateway: gateway, flags: random.pick([[], .dead, .onLink, .linkDown])))
            }
            var rule = Rule(family: family, priority: 5, action: random.pick([.table, .unreachable]), table: 1000)
            rule.from = random.oneIn(2) ? prefix : nil
            rule.to = random.oneIn(2) ? prefix : nil
            rule.mark = random.oneIn(2) ? 1 : nil
            rule.isInverted = random.oneIn(2)
            let key = Neighbour.Key(interface: .random(in: 1 ... .max, using: &random), address: address(family))
            let notices: [Notice] = [
                .route(route, replacesOther: random.oneIn(2)), .routeRemoved(route), .rule(rule), .ruleRemoved(rule),
                .neighbour(Neighbour(key: key, state: random.pick([.none, .failed, .stale, .permanent]))),
                .neighbourRemoved(key),
            ]
            #expect(notices.flatMap { encoder.bytes(of: $0) }.notices == notices)
        }
    }
}
