internal import ReachCore
internal import ReachLoop

/// Finds out which links carry tunnels. Confined to one thread.
final class TunnelUnderlay {
    /// What was found of tunnels, by ``ViewAge/carriers``.
    private var known = Derived<[InterfaceIndex: TunnelCarriers]>([:])
    /// The links that could carry tunnels whose far end is not known.
    private var possible = Derived<TunnelCarriers?>(nil)
    /// The tunnels whose far end had a route by another link, and those that some link could carry, since they are
    /// observed. Others may have their outer socket in another namespace, as those of containers do, and need no link
    /// here.
    private var routed: Set<InterfaceIndex> = []
    var carried: Set<InterfaceIndex> = []
    /// Those that received while no such link worked: something else carries them.
    var independent: Set<InterfaceIndex> = []
    /// The tunnels that no link carries now, as far as it is known.
    private var receptions: [InterfaceIndex: TunnelReception] = [:]
    /// The far ends that the kernel knows, by tunnel. Changes of the routes to them are to be noticed.
    private var ends: [InterfaceIndex: [IPAddress]] = [:]
    private let wireGuard = WireGuardQueries()

    /// What carries the tunnels that were asked about at this age of the view.
    func known(at age: Int) -> [InterfaceIndex: TunnelCarriers] { known[age] }

    func remove(_ index: InterfaceIndex) {
        routed.remove(index)
        carried.remove(index)
        independent.remove(index)
        receptions[index] = nil
        ends[index] = nil
    }

    func find(_ link: Link, in view: KernelView) throws(NetlinkError) {
        // Before anything else, so that a tunnel that leads to itself is asked for once.
        known[view.age.carriers][link.index] = TunnelCarriers()
        let found = try found(link, in: view)
        known[view.age.carriers][link.index] = found
    }

    private func found(_ link: Link, in view: KernelView) throws(NetlinkError) -> TunnelCarriers {
        let byRoute = try carriers(byRouteOf: link, in: view)
        if let byRoute, !byRoute.isEmpty {
            routed.insert(link.index)
            return TunnelCarriers(byRoute)
        }
        if byRoute != nil, routed.contains(link.index) { return TunnelCarriers(isLost: true) }
        if let lower = link.lower, link.kind != "xfrm" { return TunnelCarriers([lower]) }
        return try guess(link, in: view)
    }

    /// What carries a tunnel whose far end is not known.
    private func guess(_ link: Link, in view: KernelView) throws(NetlinkError) -> TunnelCarriers {
        var possible = try possible(in: view)
        if worksAny(of: possible, in: view) {
            carried.insert(link.index)
            receptions[link.index] = nil
            return possible
        }
        if carried.contains(link.index) {
            possible.isUnknown = false
            possible.isLost = possible.links.isEmpty
        }
        guard possible.isLost || !possible.isUnknown && !possible.links.isEmpty else {
            receptions[link.index] = nil
            return possible
        }
        return try receives(link, in: view) ? TunnelCarriers() : possible
    }

    private func worksAny(of carriers: TunnelCarriers, in view: KernelView) -> Bool {
        carriers.links.contains { view.readStack(for: $0).trouble(with: $0) == nil }
    }

    /// Whether it has received a packet since no link that is known to carry it works.
    private func receives(_ link: Link, in view: KernelView) throws(NetlinkError) -> Bool {
        if independent.contains(link.index) { return true }
        let now = SystemClock.boot
        var reception = receptions[link.index] ?? TunnelReception(at: now)
        let hasReceived = reception.hasReceived(at: now) { try? view.queries.receivedPackets(link.index) }
        receptions[link.index] = hasReceived ? nil : reception
        if hasReceived { independent.insert(link.index) }
        return hasReceived
    }

    /// When to look again whether a tunnel receives that no link carries; `nil` if there is none.
    var nextCheck: BootTime? { receptions.values.map(\.next).min() }

    private func possible(in view: KernelView) throws(NetlinkError) -> TunnelCarriers {
        if let known = possible[view.age.carriers] { return known }
        let found = TunnelCarriers(among: try view.carrierCandidates())
        possible[view.age.carriers] = found
        return found
    }

    /// The links of the routes to the far ends that the kernel knows; empty without a route, and `nil` where no far end
    /// is known or the route leads into the tunnel itself.
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

/// Whether a tunnel receives while no link that is known to carry it works: then something else carries it, such as a
/// serial line or USB. The kernel has no notice of packets, so that is looked at again, ever more seldom.
struct TunnelReception {
    /// When to look next.
    private(set) var next: BootTime
    private var wait = TunnelReception.shortest
    /// The packets received so far; `nil` until the first look. What was on its way when the link broke has arrived by
    /// then.
    private var received: UInt64?

    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(60)

    init(at now: BootTime) { next = now + Self.shortest }

    /// Compares the packets received so far with those of the last look.
    ///
    /// - Parameter count: Returns them; `nil` if the kernel does not say. Called only if it is time.
    /// - Returns: Whether there are more.
    mutating func hasReceived(at now: BootTime, _ count: () -> UInt64?) -> Bool {
        guard now >= next else { return false }
        let current = count()
        defer { received = current }
        if let received, let current, current > received { return true }
        next = now + wait
        wait = min(wait * 2, Self.longest)
        return false
    }
}
