/// The identifier of a provisioning domain (RFC 8801): a domain name of who provides the network, in lower case.
package struct ProvisioningDomain: Hashable, Sendable, CustomStringConvertible {
    /// RFC 1035 section 2.3.4, without the dot at the end.
    private static let longestName = 253
    private static let longestLabel = 63

    package let description: String

    /// Reads a name, with or without a dot at its end.
    ///
    /// - Returns: `nil` for what is no host name.
    package init?(_ text: String) {
        let labels = (text.before(".") ?? text[...]).split(
            separator: ".", omittingEmptySubsequences: false)
        self.init(labels: labels.map { Array($0.utf8) })
    }

    /// Reads a name in the form of DNS (RFC 1035 section 3.1), without compression. What follows it is not read.
    package init?(encoded bytes: some Collection<UInt8>) {
        var labels: [[UInt8]] = []
        var rest = Array(bytes)[...]
        while let length = rest.popFirst() {
            if length == 0 {
                self.init(labels: labels)
                return
            }
            guard Int(length) <= Self.longestLabel, rest.count >= Int(length) else { return nil }
            labels.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        // The bytes end before the name does.
        return nil
    }

    private init?(labels: [[UInt8]]) {
        guard !labels.isEmpty, labels.reduce(labels.count - 1, { $0 + $1.count }) <= Self.longestName,
            labels.allSatisfy({ 1...Self.longestLabel ~= $0.count && $0.allSatisfy(\.isOfHostName) })
        else { return nil }
        description = labels.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".").lowercased()
    }
}

/// What an advertisement of a router says about its provisioning domain.
package struct DomainAnnouncement: Hashable, Sendable {
    package let interface: InterfaceIndex
    /// The address from which the advertisement came.
    package let router: IPAddress
    /// `nil` where the router names none, or is no default router any more. Nothing is checked: any host on the link may announce
    /// anything.
    package let domain: ProvisioningDomain?

    package init(interface: InterfaceIndex, router: IPAddress, domain: ProvisioningDomain?) {
        self.interface = interface
        self.router = router
        self.domain = domain
    }
}

extension NetworkTable {
    /// Routers of one link whose domains are kept, as with portals. The gateway's is among them.
    private static let routerLimit = 8

    /// - Returns: The change of what identifies the network; `nil` for a repetition, which each advertisement is, and for other
    ///   hosts than the gateway.
    package mutating func apply(_ announcement: DomainAnnouncement) -> Effect? {
        let interface = announcement.interface
        guard links[interface]?.isUsable == true else { return nil }
        let before = domain(of: interface)
        var known = domains[interface] ?? []
        let index = known.firstIndex { $0.router == announcement.router }
        guard index.flatMap({ known[$0].domain }) != announcement.domain else { return nil }
        if let index {
            known.remove(at: index)
        } else if known.count >= Self.routerLimit {
            let route = DefaultRoute.Key(family: .ipv6, interface: interface)
            known.remove(at: known.firstIndex { !gateways.knows($0.router, of: route) } ?? 0)
        }
        if announcement.domain != nil { known.append(announcement) }
        domains[interface] = known.isEmpty ? nil : known
        return domain(of: interface) == before ? nil : Effect(cause: .network, interface: interface)
    }

    /// Forgets the domain of a router that is no longer a default router.
    mutating func forgetDomain(of route: Route) {
        guard !domains.isEmpty, route.destination.length == 0 else { return }
        for hop in route.hops {
            guard let interface = hop.interface, let gateway = hop.gateway else { continue }
            domains[interface]?.removeAll { $0.router == gateway }
        }
    }

    /// Keeps the domains of another table, of links that are in this one: routers are not asked for them.
    package mutating func keepDomains(of old: NetworkTable) {
        domains = old.domains.filter { links[$0.key]?.isUsable == true }
    }

    /// The domain that the gateway of a link's default route names: what any other host on the link says does not count.
    func domain(of interface: InterfaceIndex) -> ProvisioningDomain? {
        guard let known = domains[interface] else { return nil }
        let route = DefaultRoute.Key(family: .ipv6, interface: interface)
        return known.first { gateways.knows($0.router, of: route) }?.domain
    }
}
