package import ReachCore

/// Decides which interfaces have a route to a target in one family, besides the one that the kernel prefers: to the
/// Internet, which is a default route, or to a host.
///
/// The rule is the one for the Internet itself: an interface counts if at least half of the reference addresses have a
/// route over it. Neither a host route to one of them, nor its absence, says anything about the Internet. The
/// interface's class does not matter: the routes show whether a bridge or a tunnel leads to the Internet.
package struct DefaultRouteSurvey {
    /// A link that may have a default route, and the address from which packets over it would be sent.
    package struct Candidate: Hashable, Sendable {
        package let link: Link
        package let source: IPAddress
    }

    package let family: IPAddress.Family
    /// The addresses of the family that stand for the target.
    package let anchors: [IPAddress]
    /// How many of them must have a route over an interface.
    private let needed: Int

    /// The most candidates. It is more than the links to the Internet of any desktop or server; a container host may
    /// have thousands of links with addresses.
    private static let candidateLimit = 16

    /// - Parameter anchors: The reference addresses.
    package init(_ family: IPAddress.Family, among anchors: [IPAddress]) {
        self.family = family
        self.anchors = anchors.filter { $0.family == family }
        needed = Verdict.anchorsNeeded(of: self.anchors.count)
    }

    /// - Parameter addresses: The addresses of a host, of which one is enough.
    package init(_ family: IPAddress.Family, toAnyOf addresses: [IPAddress]) {
        self.family = family
        anchors = addresses.filter { $0.family == family }
        needed = 1
    }

    /// The links that can carry packets of the family and have an address of it to send from.
    ///
    /// A VRF and its ports are left out. The kernel looks up a port's routes in the VRF's table (`l3mdev_update_flow`),
    /// so that a default route there would look like one of the machine, and what was never meant for the VRF would be
    /// sent by it.
    ///
    /// - Parameters:
    ///   - preferred: The link that the kernel prefers, which is left out.
    ///   - trouble: Returns why a link cannot carry packets.
    package func candidates<Failure: Error>(
        in table: NetworkTable, besides preferred: InterfaceIndex?, trouble: (InterfaceIndex) throws(Failure) -> Reason?
    ) throws(Failure) -> [Candidate] {
        guard !anchors.isEmpty else { return [] }
        var found: [Candidate] = []
        for index in table.addressedLinks where index != preferred {
            guard let link = table.links[index], link.isUsable, !link.flags.contains(.loopback), !table.isInVRF(link),
                let own = table.addresses[link.index]?.filter({ $0.address.family == family }).bestSource,
                // With an address that a link gave itself, it is a way to nothing beyond the link.
                !own.address.isLinkLocal || !link.resolvesNeighbours
            else { continue }
            found.append(Candidate(link: link, source: own.address))
        }
        found.sort { $0.link.index < $1.link.index }
        var working: [Candidate] = []
        for candidate in found where working.count < Self.candidateLimit {
            if try trouble(candidate.link.index) == nil { working.append(candidate) }
        }
        return working
    }

    /// The route by a link, if the link counts: the widest one, since an address may have a route of its own, and of
    /// those the one with the lowest metric.
    ///
    /// - Parameter answers: The answers to lookups of all ``anchors`` by the link.
    package func route(by index: InterfaceIndex, _ answers: some Sequence<RouteAnswer>) -> (route: Route, hop: NextHop)?
    {
        let found = answers.compactMap { answer -> (route: Route, hop: NextHop)? in
            guard case .route(let route) = answer, route.type == .unicast,
                let hop = route.hops.first(where: { $0.interface == index && !$0.flags.contains(.dead) })
            else { return nil }
            return (route, hop)
        }
        guard found.count >= needed else { return nil }
        return found.min {
            ($0.route.destination.length, $0.route.metric ?? 0) < ($1.route.destination.length, $1.route.metric ?? 0)
        }
    }
}

extension NetworkTable {
    /// Whether packets by this link use a routing table of its own: it is a VRF, or a port of one.
    fileprivate func isInVRF(_ link: Link) -> Bool {
        link.kind == "vrf" || link.controller.flatMap { links[$0] }?.kind == "vrf"
    }
}
