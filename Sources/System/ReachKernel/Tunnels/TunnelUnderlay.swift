internal import ReachCore

/// Finds out which links carry tunnels. Confined to one thread.
final class TunnelUnderlay {
    /// What was found since the last ``forget()``.
    private(set) var known: [InterfaceIndex: TunnelCarriers] = [:]
    /// The links that could carry tunnels whose far end is not known.
    private var possible: TunnelCarriers?
    /// The tunnels whose far end had a route by another link, and those that some link could carry, since they are observed.
    /// Others may have their outer socket in another namespace, as those of containers do, and need no link here.
    private var routed: Set<InterfaceIndex> = []
    private var carried: Set<InterfaceIndex> = []
    /// The far ends that the kernel knows, by tunnel. Changes of the routes to them are to be noticed.
    private var ends: [InterfaceIndex: [IPAddress]] = [:]
    private let wireGuard = WireGuardQueries()

    func forget() {
        known = [:]
        possible = nil
    }

    func remove(_ index: InterfaceIndex) {
        routed.remove(index)
        carried.remove(index)
        ends[index] = nil
        known[index] = nil
    }

    func find(_ link: Link, in view: KernelView) throws(NetlinkError) {
        // Before anything else, so that a tunnel that leads to itself is asked for once.
        known[link.index] = TunnelCarriers()
        known[link.index] = try found(link, in: view)
    }

    private func found(_ link: Link, in view: KernelView) throws(NetlinkError) -> TunnelCarriers {
        let byRoute = try carriers(byRouteOf: link, in: view)
        if let byRoute, !byRoute.isEmpty {
            routed.insert(link.index)
            return TunnelCarriers(byRoute)
        }
        if byRoute != nil, routed.contains(link.index) { return TunnelCarriers(isLost: true) }
        if let lower = link.lower, link.kind != "xfrm" { return TunnelCarriers([lower]) }
        let possible = try possible(in: view)
        guard possible.links.isEmpty else {
            carried.insert(link.index)
            return possible
        }
        return TunnelCarriers(isLost: carried.contains(link.index))
    }

    private func possible(in view: KernelView) throws(NetlinkError) -> TunnelCarriers {
        if let possible { return possible }
        let found = TunnelCarriers(among: try view.carrierCandidates())
        possible = found
        return found
    }

    /// The links of the routes to the far ends that the kernel knows; empty without a route, and `nil` where no far end is known
    /// or the route leads into the tunnel itself.
    private func carriers(byRouteOf link: Link, in view: KernelView) throws(NetlinkError) -> [InterfaceIndex]? {
        let (addresses, mark) = farEnds(of: link)
        ends[link.index] = addresses.isEmpty ? nil : addresses
        guard !addresses.isEmpty else { return nil }
        let answers = try view.queries.routes(addresses.map { RouteQuestion($0, mark: mark) })
        var links: [InterfaceIndex] = []
        var isLoop = false
        for case .route(let route) in answers where route.type == .unicast {
            guard let hop = route.hops.first?.interface else { continue }
            if hop == link.index { isLoop = true } else if !links.contains(hop) { links.append(hop) }
        }
        return links.isEmpty && isLoop ? nil : links
    }

    private func farEnds(of link: Link) -> (addresses: [IPAddress], mark: UInt32?) {
        if let remote = link.remote { return ([remote], nil) }
        guard let device = wireGuard.device(link) else { return ([], nil) }
        return (device.farEnds, device.mark)
    }

    /// The far ends of the tunnels that were asked about.
    var farEnds: Set<IPAddress> { Set(ends.values.joined()) }

    /// What the kernel says of a WireGuard link; `nil` without the right to ask.
    func wireGuardDevice(_ link: Link) -> WireGuardDevice? { wireGuard.device(link) }
}
