import ReachCore
import ReachTesting

/// Encodes notices as the kernel does, with their attributes in random order.
struct NoticeEncoder {
    private typealias Kernel = KernelMessage

    var random: SeededGenerator

    mutating func bytes(of notice: Notice) -> [UInt8] {
        switch notice {
        case .link(let link):
            Kernel.link(link.index, hardwareType: link.hardwareType, flags: link.flags.rawValue, attributes(of: link))
        case .linkRemoved(let index): Kernel.link(index, isRemoved: true, [Kernel.attribute(3, "gone")])
        case .address(let address): bytes(of: address, isRemoved: false)
        case .addressRemoved(let address): bytes(of: address, isRemoved: true)
        case .neighbour(let neighbour): bytes(of: neighbour.key, state: neighbour.state, isRemoved: false)
        case .neighbourRemoved(let key): bytes(of: key, state: .failed, isRemoved: true)
        case .route(let route, let replaces): bytes(of: route, headerFlags: replaces ? 0x500 : 0x400, isRemoved: false)
        case .routeRemoved(let route): bytes(of: route, headerFlags: 0, isRemoved: true)
        case .rule(let rule): bytes(of: rule, isRemoved: false)
        case .ruleRemoved(let rule): bytes(of: rule, isRemoved: true)
        case .nexthop(let id): Kernel.nexthop(id: id)
        case .nexthopRemoved(let id): Kernel.nexthop(id: id, isRemoved: true)
        case .setting(let family, let interface):
            Kernel.setting(family: Kernel.family(family), interface: interface ?? -1)
        case .portal(let portal):
            Kernel.routerOption(
                on: portal.interface, Kernel.portalOption(portal.uri), router: portal.router.bytes)
        }
    }

    private mutating func attributes(of link: Link) -> [[UInt8]] {
        var attributes = [
            Kernel.attribute(3, link.name), Kernel.attribute(4, link.mtu), Kernel.attribute(1, link.hardwareAddress),
            Kernel.attribute(13, UInt32(1000)), Kernel.attribute(7, random.bytes(60)),
        ]
        if let state = link.operationalState { attributes.append(Kernel.attribute(16, state.rawValue)) }
        if let lower = link.lower { attributes.append(Kernel.attribute(5, lower)) }
        if let controller = link.controller { attributes.append(Kernel.attribute(10, controller)) }
        if let kind = link.kind { attributes.append(Kernel.nested(18, [Kernel.attribute(1, kind)])) }
        if !link.alternativeNames.isEmpty {
            attributes.append(Kernel.nested(52, isMarked: true, link.alternativeNames.map { Kernel.attribute(53, $0) }))
        }
        return attributes.shuffled(using: &random)
    }

    private mutating func bytes(of address: InterfaceAddress, isRemoved: Bool) -> [UInt8] {
        let own = address.address.bytes
        let isDeprecatedByLifetime = address.flags.contains(.deprecated) && random.oneIn(2)
        let flags = isDeprecatedByLifetime ? address.flags.subtracting(.deprecated) : address.flags
        let preferred: UInt32 = isDeprecatedByLifetime ? 0 : random.pick([1, 600, .max])
        var attributes = [
            Kernel.attribute(1, address.peer?.bytes ?? own), Kernel.attribute(8, flags.rawValue | 0x200),
            Kernel.lifetime(preferred: preferred, valid: .max), Kernel.attribute(3, "label"),
        ]
        if address.address.family == .ipv4 || address.peer != nil { attributes.append(Kernel.attribute(2, own)) }
        return Kernel.address(
            on: UInt32(bitPattern: address.interface), family: Kernel.family(address.address.family),
            length: address.prefixLength, flags: UInt8(truncatingIfNeeded: flags.rawValue), scope: address.scope,
            isRemoved: isRemoved, attributes.shuffled(using: &random))
    }

    private func bytes(of key: Neighbour.Key, state: NeighbourState, isRemoved: Bool) -> [UInt8] {
        let states: [NeighbourState: UInt16] = [
            .incomplete: 1, .reachable: 2, .stale: 4, .delay: 8, .probe: 0x10, .failed: 0x20, .noarp: 0x40,
            .permanent: 0x80,
        ]
        return Kernel.neighbour(
            on: key.interface, family: Kernel.family(key.address.family), state: states[state] ?? 0,
            isRemoved: isRemoved, [Kernel.attribute(1, key.address.bytes)])
    }

    private mutating func bytes(of route: Route, headerFlags: UInt16, isRemoved: Bool) -> [UInt8] {
        let family = route.destination.address.family
        var attributes = [Kernel.attribute(15, route.table)]
        if route.destination.length > 0 { attributes.append(Kernel.attribute(1, route.destination.address.bytes)) }
        if let metric = route.metric { attributes.append(Kernel.attribute(6, metric)) }
        if let source = route.source { attributes.append(Kernel.attribute(7, source.bytes)) }
        if let object = route.nexthopObject { attributes.append(Kernel.attribute(30, object)) }
        func gateway(_ hop: NextHop) -> [[UInt8]] {
            guard let gateway = hop.gateway else { return [] }
            if gateway.family == family { return [Kernel.attribute(5, gateway.bytes)] }
            return [Kernel.attribute(18, Kernel.number(UInt16(Kernel.family(gateway.family))) + gateway.bytes)]
        }
        var flags: UInt32 = 0
        if route.hops.count == 1, let hop = route.hops.first {
            attributes += gateway(hop) + [Kernel.attribute(4, hop.interface ?? 0)]
            flags = UInt32(hop.flags.rawValue)
        } else if !route.hops.isEmpty {
            let hops = route.hops.flatMap { hop in
                Kernel.nextHop(hop.interface ?? 0, flags: hop.flags.rawValue, weight: UInt8(hop.weight), gateway(hop))
            }
            attributes.append(Kernel.attribute(9, hops))
        }
        return Kernel.route(
            family: Kernel.family(family), length: UInt8(route.destination.length),
            table: UInt8(truncatingIfNeeded: min(route.table, 252)), origin: route.origin, type: route.type.rawValue,
            flags: flags, headerFlags: headerFlags, isRemoved: isRemoved, attributes.shuffled(using: &random))
    }

    private mutating func bytes(of rule: Rule, isRemoved: Bool) -> [UInt8] {
        var attributes = [Kernel.attribute(6, rule.priority), Kernel.attribute(15, rule.table)]
        if let from = rule.from { attributes.append(Kernel.attribute(2, from.address.bytes)) }
        if let to = rule.to { attributes.append(Kernel.attribute(1, to.address.bytes)) }
        if let mark = rule.mark { attributes.append(Kernel.attribute(10, mark)) }
        return Kernel.rule(
            family: Kernel.family(rule.family), to: UInt8(rule.to?.length ?? 0), from: UInt8(rule.from?.length ?? 0),
            table: 0, action: rule.action.rawValue, flags: rule.isInverted ? 2 : 0, isRemoved: isRemoved,
            attributes.shuffled(using: &random))
    }
}
