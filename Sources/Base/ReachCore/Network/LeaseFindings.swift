/// What the leases of DHCP clients say about links, as far as they were read.
package struct LeaseFindings: Hashable, Sendable {
    /// The links whose DHCP server is an Android phone that shares its mobile connection.
    package var hotspots: Set<InterfaceIndex> = []
    /// The addresses of links for which it is decided whether a lease says so.
    package var decided: [InterfaceIndex: Set<IPAddress>] = [:]

    package init() {}

    /// Notes what was found out about a link with these addresses.
    package mutating func note(_ interface: InterfaceIndex, _ addresses: Set<IPAddress>, isHotspot: Bool) {
        decided[interface] = addresses
        if isHotspot { hotspots.insert(interface) } else { hotspots.remove(interface) }
    }

    /// Forgets all links but these.
    package mutating func keep(_ interfaces: Set<InterfaceIndex>) {
        hotspots.formIntersection(interfaces)
        decided = decided.filter { interfaces.contains($0.key) }
    }

    /// Classes of links to phones that share their connection.
    package static let classes: Set<LinkClass> = [.wifi, .wired, .bluetooth]

    /// Marks the routes that may turn out to be metered, with the tunnels that they carry.
    package func markingUndecided(_ routes: [DefaultRoute]) -> [DefaultRoute] {
        let undecided = routes.filter { route in
            guard route.key.family == .ipv4, route.traits.linkClass.map(Self.classes.contains) == true else {
                return false
            }
            return !(decided[route.key.interface] ?? []).isSuperset(of: route.addresses.map(\.address))
        }
        guard !undecided.isEmpty else { return routes }
        let names = Set(undecided.map(\.name))
        return routes.map { route in
            guard names.contains(route.name) || !names.isDisjoint(with: route.lower) else { return route }
            var route = route
            route.traits.mayBeMetered = true
            return route
        }
    }
}
