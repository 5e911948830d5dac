package import ReachCore

/// What portals say by their APIs (RFC 8908), and what follows for the paths behind them.
///
/// - **`captive: true` closes the path**, before a check of the path has ended and without a redirection, unless HTTPS
///   proves the Internet: any host on the link may announce an API of its own with a valid certificate, but none has an
///   endpoint's key. A proof by plain HTTP does not outweigh it, since portals let the usual endpoints pass, and
///   whoever can announce an API can answer in plain HTTP, too.
/// - **`captive: false` proves nothing**, nor does the end of a portal: the paths are checked at once, and only that
///   opens them.
/// - **An API that does not answer changes nothing**, and after three failures what it said before no longer counts.
extension ValidationMachine {
    /// Sets what the lease of an interface announces; `nil` if nothing.
    package mutating func setLease(_ uri: String?, of interface: InterfaceIndex, at now: BootTime)
        -> [ValidationCommand]
    {
        guard leases[interface] != uri else { return [] }
        leases[interface] = uri
        return updatePortals(paths.values.map(\.route), at: now) + timeReached(at: now)
    }

    /// Handles the answer of a portal's API.
    ///
    /// - Parameter bytes: Bytes sent and received by the question, if known.
    package mutating func portalAnswered(
        _ ticket: Ticket, _ result: Result<PortalAnswer, PortalTrouble>, bytes: Int?, at now: BootTime
    ) -> [ValidationCommand] {
        guard let interface = portalOwners.removeValue(forKey: ticket), let portal = portals[interface] else {
            return []
        }
        spend(bytes, by: portal.routes[0], at: now)
        let hasTurned = portals[interface]?.answered(
            ticket, result, at: now, jitter: { [draw] in Self.jitter($0, draw()) })
        guard hasTurned == true, portals[interface]?.turn(at: now) == true else { return [] }
        return recheck(interface, wasCaptive: portal.isCaptive, at: now)
    }

    /// Checks the paths of an interface again whose portal has closed, opened or gone.
    private mutating func recheck(
        _ interface: InterfaceIndex, wasCaptive: Bool, at now: BootTime
    ) -> [ValidationCommand] {
        // A first check that is still running decides anyway.
        let decided = Set(paths.filter { $0.key.interface == interface && !$0.value.isUndecided }.keys)
        guard wasCaptive else { return restart(at: now, where: decided.contains) }
        // A proof by plain HTTP may be the portal's own doing, so nothing is known until the next check.
        let doubtful = decided.filter { paths[$0].map { $0.connectivity == .full && !$0.isSecurelyProved } == true }
        return replace(doubtful, at: now) + restart(at: now) { decided.contains($0) && !doubtful.contains($0) }
    }

    /// Asks portals soon that close a path which works or begins to work.
    mutating func doubtPortals(at now: BootTime) {
        for interface in Array(portals.keys) where portals[interface]?.isCaptive == true {
            let isClosed = paths.contains { $0.key.interface == interface && !$0.value.isSecurelyProved }
            if isClosed { portals[interface]?.doubt(at: now) }
        }
    }

    /// Updates the portals to those that the networks announce now. A lease is for this machine alone, so it precedes
    /// what a router announces to all.
    mutating func updatePortals(_ routes: [DefaultRoute], at now: BootTime) -> [ValidationCommand] {
        guard options.asksPortals,
            !portals.isEmpty || !leases.isEmpty || !portalTroubles.isEmpty || !portalPaces.isEmpty
                || routes.contains(where: { $0.portalURI != nil })
        else { return [] }
        portalTroubles = [:]
        let byInterface = Dictionary(grouping: routes, by: \.key.interface)
        leases = leases.filter { byInterface[$0.key] != nil }
        var commands: [ValidationCommand] = []
        for interface in Set(byInterface.keys).union(portals.keys).sorted() {
            let routes = (byInterface[interface] ?? []).sorted { $0.key.family.rawValue < $1.key.family.rawValue }
            guard let first = routes.first, let api = api(of: interface, first.name, routes) else {
                commands += endPortal(of: interface, at: now)
                continue
            }
            if portals[interface]?.update(api, routes) != true {
                commands += endPortal(of: interface, at: now)
                portals[interface] = PortalWatch(
                    api, routes, portalPaces.removeValue(forKey: interface) ?? PortalPace(), at: now)
            }
        }
        portalPaces = portalPaces.filter { byInterface[$0.key] != nil }
        return commands
    }

    private mutating func api(
        of interface: InterfaceIndex, _ name: String, _ routes: [DefaultRoute]
    ) -> ConnectivityEndpoint? {
        for text in [leases[interface], routes.lazy.compactMap(\.portalURI).first] {
            switch text.map(PortalURI.init) {
            case .api(let endpoint)?: return endpoint
            case .unrestricted?: return nil
            case .refused(let trouble)?: portalTroubles[name] = portalTroubles[name] ?? trouble
            case nil: break
            }
        }
        return nil
    }

    private mutating func endPortal(of interface: InterfaceIndex, at now: BootTime) -> [ValidationCommand] {
        guard var portal = portals.removeValue(forKey: interface) else { return [] }
        var commands: [ValidationCommand] = []
        if let ticket = portal.openTicket, portalOwners.removeValue(forKey: ticket) != nil {
            commands.append(.cancel(ticket))
        }
        if portal.isCaptive, portal.turn(at: now) { commands += recheck(interface, wasCaptive: true, at: now) }
        portalPaces[interface] = portal.pace
        return commands
    }

    /// Questions that are due.
    mutating func askPortals(at now: BootTime) -> [ValidationCommand] {
        guard !portals.isEmpty else { return [] }
        var commands: [ValidationCommand] = []
        for interface in portals.keys.sorted() {
            let allowed = portals[interface].map { allowance(for: $0.routes[0].key, at: now) } ?? now
            let ticket = lastTicket + 1
            guard let command = portals[interface]?.timeReached(at: now, ticket: ticket, allowed: allowed) else {
                continue
            }
            lastTicket += 1
            portalOwners[lastTicket] = interface
            commands.append(command)
        }
        return commands
    }

    /// Asks all portals again, since the machine slept.
    mutating func restartPortals(at now: BootTime) -> [ValidationCommand] {
        var commands: [ValidationCommand] = []
        for interface in portals.keys.sorted() {
            if let ticket = portals[interface]?.openTicket, portalOwners.removeValue(forKey: ticket) != nil {
                commands.append(.cancel(ticket))
            }
            portals[interface]?.restart(at: now)
        }
        return commands
    }

    /// The connectivity of a path, as checks and the portal's API together prove it, and the portal's page.
    func connectivity(of path: PathValidation) -> (found: Connectivity, page: String?) {
        guard let portal = portals[path.route.key.interface], portal.isCaptive, !path.isSecurelyProved else {
            return (path.connectivity, path.portal)
        }
        return (.portal, portal.session?.userPortalURL ?? path.portal)
    }

    /// Adds what the portal of an interface says.
    func addPortal(of route: DefaultRoute, to report: inout ConnectivityReport) {
        let portal = portals[route.key.interface]
        if report.session == nil { report.session = portal?.session }
        if report.portalTrouble == nil {
            report.portalTrouble = (portal?.trouble ?? portalTroubles[route.name])?.sentence
        }
    }
}
