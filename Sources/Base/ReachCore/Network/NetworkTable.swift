/// Links, addresses and gateways' neighbour entries, built from the kernel's notices. Apply notices in the order of
/// their arrival.
///
/// Routes are not stored: the kernel removes IPv4 routes without a notice, a table may have a million of them, and a
/// lookup takes microseconds. A notice about a route, a rule or a nexthop object is only a hint to query again.
package struct NetworkTable: Equatable, Sendable {
    package private(set) var links: [InterfaceIndex: Link] = [:]
    /// The links by name, kind and controller.
    package private(set) var index = LinkIndex()
    package private(set) var addresses: [InterfaceIndex: [InterfaceAddress]] = [:]
    /// The links with an address that has a meaning beyond the link. All links that are up have the others.
    package private(set) var addressedLinks: Set<InterfaceIndex> = []
    package private(set) var neighbours: [Neighbour.Key: NeighbourState] = [:]

    /// The gateways of the default routes of usable links, and their hardware addresses once they have answered.
    package var gateways = GatewayTable()

    /// The portals that routers announce, those heard of last at the end. Links that are down have none.
    package internal(set) var portals: [InterfaceIndex: [PortalAnnouncement]] = [:]

    /// The provisioning domains that routers announce, those heard of last at the end. Links that are down have none.
    package internal(set) var domains: [InterfaceIndex: [DomainAnnouncement]] = [:]

    package init() {}

    /// A change that a notice made.
    package struct Effect: Hashable, Sendable {
        package let cause: Cause
        /// The interface that changed, if the change concerns one.
        package let interface: InterfaceIndex?
        /// The only family whose paths the change can affect; `nil` if it can affect both.
        package let family: IPAddress.Family?
        /// The route that was added to those that there were; `nil` for any other change.
        package let addedRoute: Route?

        package init(
            cause: Cause, interface: InterfaceIndex? = nil, family: IPAddress.Family? = nil, addedRoute: Route? = nil
        ) {
            self.cause = cause
            self.interface = interface
            self.family = family
            self.addedRoute = addedRoute
        }

        /// The only family whose paths these changes can affect; `nil` if they can affect both.
        package static func onlyFamily(of effects: [Effect]) -> IPAddress.Family? {
            guard let family = effects.first?.family else { return nil }
            return effects.allSatisfy { $0.family == family } ? family : nil
        }
    }

    /// Applies a notice to the table.
    ///
    /// - Returns: The change; `nil` for a repetition, a renewal, or the removal of something unknown.
    package mutating func apply(_ notice: Notice) -> Effect? {
        switch notice {
        case .link(let link): return apply(link)
        case .linkRemoved(let index): return remove(index)
        case .address(let address): return apply(address)
        case .addressRemoved(let address): return remove(address)
        case .neighbour(let neighbour):
            let hasNewHardware = gateways.update(neighbour)
            return set(neighbour.state, for: neighbour.key)
                ?? (hasNewHardware ? Effect(cause: .network, interface: neighbour.key.interface) : nil)
        case .neighbourRemoved(let key): return set(.none, for: key)
        case .route(let route, let replaces): return effect(of: route, replaces ? .routeReplaced : .routeAdded)
        case .routeRemoved(let route):
            forgetPortal(of: route)
            forgetDomain(of: route)
            return effect(of: route, .routeRemoved)
        case .rule(let rule): return Effect(cause: .ruleAdded, family: rule.family)
        case .ruleRemoved(let rule): return Effect(cause: .ruleRemoved, family: rule.family)
        case .nexthop: return Effect(cause: .nexthopAdded)
        case .nexthopRemoved: return Effect(cause: .nexthopRemoved)
        case .portal(let announcement): return apply(announcement)
        case .setting(let family, let interface):
            return Effect(cause: .setting, interface: interface, family: family)
        }
    }

    /// The addresses of all links that have a meaning beyond a site.
    package var globalAddresses: Set<IPAddress> {
        var found: Set<IPAddress> = []
        for link in addressedLinks {
            for entry in addresses[link] ?? [] where entry.address.scope > .site {
                found.insert(entry.address)
            }
        }
        return found
    }

    /// The entries of an address that has a meaning beyond the link. Two links may have the same address.
    func entries(of address: IPAddress) -> [InterfaceAddress] {
        addressedLinks.flatMap { link in (addresses[link] ?? []).filter { $0.address == address } }
    }

    /// The link with this name, otherwise the one with this alternative name.
    package func link(named name: String) -> Link? {
        index.link(named: name).flatMap { links[$0] }
    }

    /// Stores the state of a neighbour entry that was queried; notices then keep it up to date.
    package mutating func setNeighbour(_ key: Neighbour.Key, to state: NeighbourState?) { neighbours[key] = state }

    /// Removes all neighbour entries except these.
    package mutating func keepNeighbours(_ keys: Set<Neighbour.Key>) {
        guard neighbours.contains(where: { !keys.contains($0.key) }) else { return }
        neighbours = neighbours.filter { keys.contains($0.key) }
    }

    private func effect(of route: Route, _ cause: Cause) -> Effect {
        Effect(
            cause: cause, interface: route.hops.first?.interface, family: route.destination.address.family,
            addedRoute: cause == .routeAdded ? route : nil)
    }

    private mutating func apply(_ link: Link) -> Effect? {
        guard let old = links[link.index] else {
            links[link.index] = link
            index.replace(nil, by: link)
            return Effect(cause: .linkAdded, interface: link.index)
        }
        var new = link
        new.operationalState = link.operationalState ?? old.operationalState
        guard new != old else { return nil }
        links[link.index] = new
        index.replace(old, by: new)
        if !new.isUsable {
            portals[link.index] = nil
            domains[link.index] = nil
            gateways.forget(link.index)
        } else if !old.isUsable {
            forgetFailures(on: link.index)
        }
        return Effect(cause: Self.cause(from: old, to: new), interface: link.index)
    }

    /// No one could answer while the link could not be used, and the kernel keeps an entry as failed until something is
    /// sent.
    private mutating func forgetFailures(on index: InterfaceIndex) {
        for (key, state) in neighbours where key.interface == index && state == .failed {
            neighbours[key] = NeighbourState.none
        }
    }

    private static func cause(from old: Link, to new: Link) -> Cause {
        if old.isUp != new.isUp { return new.isUp ? .linkUp : .linkDown }
        if old.isUsable != new.isUsable { return new.isUsable ? .carrierGained : .carrierLost }
        return .linkChanged
    }

    private mutating func remove(_ link: InterfaceIndex) -> Effect? {
        setAddresses([], of: link)
        portals[link] = nil
        domains[link] = nil
        gateways.forget(link)
        guard let old = links.removeValue(forKey: link) else { return nil }
        index.replace(old, by: nil)
        return Effect(cause: .linkRemoved, interface: link)
    }

    private mutating func apply(_ address: InterfaceAddress) -> Effect? {
        var entries = addresses[address.interface] ?? []
        let effect: Effect?
        if let place = entries.firstIndex(where: { $0.isSameAddress(as: address) }) {
            guard entries[place] != address else { return nil }
            let becameReady = !entries[place].isReady && address.isReady
            effect = self.effect(of: address, becameReady ? .addressAdded : .addressChanged)
            entries[place] = address
        } else {
            entries.append(address)
            effect = self.effect(of: address, .addressAdded)
        }
        setAddresses(entries, of: address.interface)
        return effect
    }

    private mutating func remove(_ address: InterfaceAddress) -> Effect? {
        guard var entries = addresses[address.interface],
            let place = entries.firstIndex(where: { $0.isSameAddress(as: address) })
        else { return nil }
        entries.remove(at: place)
        setAddresses(entries, of: address.interface)
        return effect(of: address, .addressRemoved)
    }

    private mutating func setAddresses(_ entries: [InterfaceAddress], of link: InterfaceIndex) {
        addresses[link] = entries.isEmpty ? nil : entries
        if entries.contains(where: { !$0.address.isLinkLocal }) {
            addressedLinks.insert(link)
        } else {
            addressedLinks.remove(link)
        }
    }

    private func effect(of address: InterfaceAddress, _ cause: Cause) -> Effect {
        Effect(cause: cause, interface: address.interface, family: address.address.family)
    }

    private mutating func set(_ state: NeighbourState, for key: Neighbour.Key) -> Effect? {
        guard let old = neighbours[key], old != state else { return nil }
        // A failed gateway that the kernel queries again stays failed until it answers.
        if old == .failed, state == .incomplete { return nil }
        neighbours[key] = state
        return Effect(cause: .neighbour, interface: key.interface)
    }
}

extension InterfaceAddress {
    /// Whether both are the same entry. IPv4 allows several entries of one address that differ in prefix length or far
    /// end; IPv6 has one entry for each address and link.
    fileprivate func isSameAddress(as other: InterfaceAddress) -> Bool {
        guard address == other.address else { return false }
        return address.family == .ipv6 || (prefixLength == other.prefixLength && peer == other.peer)
    }
}

/// A notification from the kernel. It updates the ``NetworkTable`` and hints that a verdict may have changed.
package enum Notice: Hashable, Sendable {
    /// A link appeared or changed (RTM_NEWLINK).
    case link(Link)
    /// A link was removed (RTM_DELLINK).
    case linkRemoved(InterfaceIndex)
    /// An address was added or changed (RTM_NEWADDR).
    case address(InterfaceAddress)
    /// An address was removed (RTM_DELADDR).
    case addressRemoved(InterfaceAddress)
    /// The state of a neighbour entry changed (RTM_NEWNEIGH).
    case neighbour(Neighbour)
    /// A neighbour entry was removed (RTM_DELNEIGH).
    case neighbourRemoved(Neighbour.Key)
    /// A route was added or replaced another (RTM_NEWROUTE).
    case route(Route, replacesOther: Bool)
    /// A route was removed (RTM_DELROUTE).
    case routeRemoved(Route)
    /// A policy rule was added (RTM_NEWRULE).
    case rule(Rule)
    /// A policy rule was removed (RTM_DELRULE).
    case ruleRemoved(Rule)
    /// A nexthop object was added or replaced (RTM_NEWNEXTHOP).
    case nexthop(id: UInt32)
    /// A nexthop object was removed (RTM_DELNEXTHOP).
    case nexthopRemoved(id: UInt32)
    /// A router announced the API of a portal (RTM_NEWNDUSEROPT).
    case portal(PortalAnnouncement)
    /// A setting of the family changed for one interface or for all (RTM_NEWNETCONF).
    case setting(family: IPAddress.Family, interface: InterfaceIndex?)
}

/// The network at one moment, as the kernel's tables show it. The engine determines it once for each change, and all
/// parts read the same one.
package struct NetworkSnapshot: Hashable, Sendable {
    /// The verdict on the Internet.
    package let internet: Verdict
    /// The Internet's epoch: the number of changes of the interfaces, sources or gateways that the kernel prefers.
    package let epoch: UInt64
    /// The default routes: IPv4 before IPv6, in each family the preferred one first, then by interface index.
    package let routes: [DefaultRoute]
    /// The links that can carry packets and have an address, whether or not a default route goes by them: in ascending
    /// order, and only the first few where there are many.
    package let links: [InterfaceIndex]

    /// This machine's addresses, of all links, but for those that have no meaning beyond a site.
    package let ownAddresses: Set<IPAddress>

    /// The names of the tunnels into which the kernel sends to the Internet, whether or not they work. Nothing is sent
    /// past them.
    package var tunnels: [String] {
        var names: [String] = []
        for path in [internet.ipv4, internet.ipv6] where path.traits.isTunnelled {
            if let name = path.interface, !names.contains(name) { names.append(name) }
        }
        return names
    }

    package init(
        internet: Verdict, epoch: UInt64, routes: [DefaultRoute], links: [InterfaceIndex] = [],
        ownAddresses: Set<IPAddress> = []
    ) {
        self.ownAddresses = ownAddresses
        self.internet = internet
        self.epoch = epoch
        self.routes = routes
        self.links = links
    }
}

extension Cause {
    /// The weightiest cause that affects one of these interfaces; otherwise the weightiest of all.
    ///
    /// What takes a path away does not make a target reachable, and what brings one does not end that: a route that was
    /// added, deleted and added at once is a route that was added. Such a cause counts only if there is no other.
    package static func weightiest(
        of effects: [NetworkTable.Effect], touching interfaces: [InterfaceIndex],
        from before: ReachabilityStatus, to after: ReachabilityStatus
    ) -> Cause? {
        if effects.count == 1 { return effects[0].cause }
        let near = effects.filter { effect in effect.interface.map(interfaces.contains) ?? true }
        let causes = (near.isEmpty ? effects : near).map(\.cause)
        let fitting = before == after ? causes : causes.filter { $0.direction != (after == .reachable ? .loss : .gain) }
        return (fitting.isEmpty ? causes : fitting).min { $0.weight < $1.weight }
    }

    private enum Direction {
        case loss, gain
    }

    /// What the cause does to paths; `nil` where it may do either, as a rule that forbids does.
    private var direction: Direction? {
        switch self {
        case .cannotObserve, .linkRemoved, .linkDown, .carrierLost, .addressRemoved, .nexthopRemoved, .routeRemoved:
            .loss
        case .linkUp, .carrierGained, .linkAdded, .addressAdded, .nexthopAdded, .routeAdded: .gain
        case .start, .resync, .wake, .addressChanged, .ruleRemoved, .ruleAdded, .routeReplaced, .neighbour, .roam,
            .network, .linkChanged, .setting, .router, .name, .probe, .holdElapsed, .configuration, .poll:
            nil
        }
    }

    private var weight: Int { Self.weights[self] ?? .max }

    private static let weights = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
