internal import ReachCore
internal import ReachLoop
internal import ReachQueue

/// Follows the routes to destinations, and reports each one that changes. Confined to the loop.
///
/// A change of the network costs one lookup for each address. Up to ``portion`` destinations are looked up in one
/// exchange with the kernel, and the loop does its other work between two exchanges.
final class RouteFeed {
    private struct Followed {
        var addresses: [RoutedAddress]
        /// Whether the addresses come from name servers.
        let isNamed: Bool
        let doubt: AddressDoubt
        var routes: [AddressRoute]?
        var reported: DestinationRoute?
    }

    private let loop: EventLoop
    private let network: any QueueNetwork
    private let feed: () -> PathFeed?
    private let report: ([DestinationRoute]) -> Void
    /// Returns the host to which requests for a destination connect: the destination's own, or its proxy.
    private let server: (Destination) -> Target.Subject?
    /// Returns what is sent to that host.
    private let flow: (Destination) -> PacketFlow?
    private var followed: [Destination: Followed] = [:]
    /// The addresses of names with routes of their own, as attempts and lookups found them last.
    private var learned: [Destination: [IPAddress]] = [:]
    private var isKnown = false
    private var endFollowing: () -> Void = {}
    private var followedAddresses: Set<IPAddress> = []
    private var willFollow = false
    /// The destinations with new addresses, whose routes are looked up again once notices of these pass.
    private var unsurveyed: Set<Destination> = []
    /// The destinations whose routes are looked up next.
    private var due: [Destination] = []
    private var willSurvey = false
    private var lastSurvey = BootTime(nanoseconds: .min)
    private let loopReference = LoopReference<RouteFeed>()

    /// The most destinations that are looked up in one go.
    private static let portion = 256
    /// With more destinations than this, surveys are at least ``distance`` apart: a storm of notices must not occupy
    /// the loop.
    private static let calmCount = 32
    private static let distance = Duration.milliseconds(250)
    /// The most names whose addresses are kept.
    private static let learnedLimit = 1024

    /// - Parameters:
    ///   - feed: Returns the feed of the default routes, which knows what probes have proved about interfaces.
    ///   - report: Called with the routes that have changed.
    init(
        loop: EventLoop, network: any QueueNetwork, feed: @escaping () -> PathFeed?,
        server: @escaping (Destination) -> Target.Subject?,
        flow: @escaping (Destination) -> PacketFlow? = { _ in nil }, report: @escaping ([DestinationRoute]) -> Void
    ) {
        (self.loop, self.network, self.feed, self.server, self.report) = (loop, network, feed, server, report)
        self.flow = flow
        loopReference.owner = self
    }

    deinit {
        endFollowing()
        loopReference.owner = nil
    }

    /// Reports the route to a destination now, if it can be known, and whenever it changes.
    func follow(_ destination: Destination) {
        let server = server(destination)
        let (addresses, isNamed) = addresses(of: destination, at: server)
        followed[destination] = Followed(
            addresses: addresses, isNamed: isNamed, doubt: AddressDoubt(of: destination, at: server))
        unsurveyed.insert(destination)
        followLater()
        survey([destination])
    }

    func unfollow(_ destination: Destination) {
        followed[destination] = nil
        learned[destination] = nil
        // One of many may still cause lookups for a while; to change what the kernel sends after each would cost more.
        guard followed.count <= Self.calmCount || followed.count < followedAddresses.count / 2 else { return }
        followLater()
    }

    /// Records whether the kernel can be observed. While it cannot, every destination is without a route.
    func update(isKnown: Bool) {
        guard self.isKnown != isKnown else { return }
        self.isKnown = isKnown
        surveyAll()
    }

    /// Reports the routes again after probes have proved another connectivity.
    func update() { publish(Array(followed.keys)) }

    /// Records the addresses of a name, which an attempt or a lookup has found.
    func learn(_ addresses: [IPAddress], of destination: Destination) {
        if followed[destination] == nil, learned[destination] == nil, learned.count >= Self.learnedLimit {
            learned.removeValue(forKey: learned.first?.key ?? destination)
        }
        learned[destination] = addresses
        guard followed[destination]?.isNamed == true else { return }
        followed[destination]?.addresses = addresses.map { RoutedAddress($0, flow: flow(destination)) }
        unsurveyed.insert(destination)
        followLater()
    }

    private func addresses(
        of destination: Destination, at server: Target.Subject?
    ) -> ([RoutedAddress], isNamed: Bool) {
        switch server {
        case .address(let address, let zone): ([RoutedAddress(address, zone: zone, flow: flow(destination))], false)
        case .name(let name) where name == "localhost" || name.hasUTF8Suffix(".localhost"):
            ([RoutedAddress(IPAddress(ipv4: 0x7f00_0001)), RoutedAddress(IPAddress(ipv6: 0, 1))], false)
        default: ((learned[destination] ?? []).map { RoutedAddress($0, flow: flow(destination)) }, true)
        }
    }

    // MARK: The kernel

    private func followLater() {
        guard !willFollow else { return }
        willFollow = true
        loop.afterEvents { [loopReference] in loopReference.owner?.followAddresses() }
    }

    private func followAddresses() {
        willFollow = false
        defer { unsurveyed = [] }
        let addresses = Set(followed.values.flatMap { $0.addresses.map(\.address) })
        guard addresses != followedAddresses else { return }
        followedAddresses = addresses
        let end = endFollowing
        endFollowing = {}
        if !addresses.isEmpty {
            endFollowing = network.followRoutes(to: addresses) { [loopReference] in loopReference.owner?.surveyAll() }
        }
        // Only now, so that notices about the addresses that stay pass all the while.
        end()
        // A route may have changed before the filter let notices of these addresses pass.
        due += unsurveyed
        if !due.isEmpty { surveySoon() }
    }

    private func surveyAll() {
        due = Array(followed.keys)
        surveySoon()
    }

    private func surveySoon() {
        guard followed.count > Self.calmCount else { return surveyDue() }
        guard !willSurvey else { return }
        willSurvey = true
        loop.schedule(at: max(SystemClock.boot, lastSurvey + Self.distance)) { [loopReference] in
            loopReference.owner?.willSurvey = false
            loopReference.owner?.surveyDue()
        }
    }

    private func surveyDue() {
        lastSurvey = SystemClock.boot
        let portion = Array(due.prefix(Self.portion))
        due.removeFirst(portion.count)
        survey(portion)
        guard !due.isEmpty, !willSurvey else { return }
        willSurvey = true
        loop.afterEvents { [loopReference] in
            loopReference.owner?.willSurvey = false
            loopReference.owner?.surveyDue()
        }
    }

    private func survey(_ destinations: [Destination]) {
        let wanted = destinations.filter { followed[$0] != nil }
        let addresses = wanted.flatMap { followed[$0]?.addresses ?? [] }
        guard isKnown else { return publishUnknown(wanted) }
        guard var routes = addresses.isEmpty ? [] : network.routes(to: addresses)?[...] else { return }
        for destination in wanted {
            let count = followed[destination]?.addresses.count ?? 0
            followed[destination]?.routes = Array(routes.prefix(count))
            routes = routes.dropFirst(count)
        }
        publish(wanted)
    }

    private func publish(_ destinations: [Destination]) {
        guard let feed = feed() else { return }
        var changed: [DestinationRoute] = []
        for destination in destinations {
            guard let entry = followed[destination], let routes = entry.routes else { continue }
            // Without addresses, nothing shows that the name has a route other than a default route.
            let route =
                entry.addresses.isEmpty
                ? DestinationRoute(destination)
                : feed.route(
                    to: destination, by: routes, of: entry.addresses.map(\.address), isNamed: entry.isNamed,
                    doubt: entry.doubt)
            guard route != entry.reported else { continue }
            followed[destination]?.reported = route
            changed.append(route)
        }
        if !changed.isEmpty { report(changed) }
    }

    /// Reports that there is no route, but only for destinations whose route was reported before.
    private func publishUnknown(_ destinations: [Destination]) {
        var changed: [DestinationRoute] = []
        for destination in destinations {
            followed[destination]?.routes = nil
            guard let reported = followed[destination]?.reported else { continue }
            let none = DestinationRoute(destination, defaultFamilies: [])
            guard reported != none else { continue }
            followed[destination]?.reported = none
            changed.append(none)
        }
        if !changed.isEmpty { report(changed) }
    }
}
