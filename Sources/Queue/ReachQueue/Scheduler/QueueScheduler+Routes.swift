internal import ReachCore

/// Destinations with routes of their own, or in a family without a route: their requests form separate groups, whose
/// gates are the paths to them.
///
/// An address is separate from the beginning, since its route is known without a packet. A name shares its groups with
/// all others until an attempt, or a lookup while no default route serves it, finds that its host is reached otherwise.
extension QueueScheduler {
    /// Whether the path that the group waits for has been looked up.
    func hasKnownPath(_ group: GroupIndex) -> Bool {
        guard let destination = gates[group].key.destination else { return true }
        let isTarget = gates[group].key.condition.isTargetReachable
        return isTarget ? gates[group].isTargetKnown : destinations.route(to: destination) != nil
    }

    /// The paths that an attempt of this group may stay on.
    ///
    /// - Parameter isBegun: An attempt that began over a default route may end there, though its destination got a
    ///   route of its own meanwhile.
    func pathsInReach(of group: RequestGroup, _ paths: PathSet, isBegun: Bool) -> PathSet {
        guard let destination = group.key.destination else { return paths }
        if group.key.condition.isTargetReachable {
            // The path to a host need not lead to the Internet.
            return group.isTargetKnown ? PathSet(group.targetPath.map { [$0] } ?? [], epoch: paths.epoch) : paths
        }
        guard let route = destinations.route(to: destination) else { return paths }
        let defaults = isBegun ? paths.paths : route.defaults(among: paths.paths)
        return PathSet(route.own + defaults, epoch: paths.epoch)
    }

    mutating func resumeLines(to destination: Destination) {
        guard let site = destinations[destination] else { return }
        for record in destinations[site].records { lines.resume(destination: record) }
    }

    // MARK: Changes of routes

    mutating func routesChanged(_ routes: [DestinationRoute]) {
        for route in routes {
            if let site = destinations[route.destination] { setRoute(route, of: site) }
        }
        lookUpStrandedNames()
    }

    private mutating func setRoute(_ route: DestinationRoute, of site: SiteIndex) {
        let isNew = destinations.setRoute(route, of: site)
        if !destinations[site].isSeparate, needsOwnGroup(route) { separate(site) }
        guard isNew else { return }
        let groups = destinations[site].routedGroups
        for group in groups { evaluate(group) }
        for destination in destinations.endNetworkWaits(at: site) { lines.resume(destination: destination) }
        for group in groups where gates[group].gate.isOpen && gates[group].cutWaitsAt == nil {
            gates.spreadWaits(of: group, at: now, using: &turn.random)
            gates.refreshTimer(group, at: now)
        }
        for id in attempts.ids { evaluateAttempt(id) }
    }

    /// An attempt has resolved its destination's name, and looked up the routes.
    mutating func attemptRouted(_ id: RequestID, by path: QueuePath?, _ route: DestinationRoute) {
        var isElsewhere = false
        if let path, let index = attempts.index(of: id) {
            let before = attempts[index].path
            let isOtherInterface = before.interfaceIndex != path.interfaceIndex
            if isOtherInterface { endTrial(index) }
            // An address of the path that it was begun for is still there (``RunningAttempt/path(in:)``).
            let keepsAddress = path.sources.isEmpty || !path.sources.isDisjoint(with: before.sources)
            isElsewhere = isOtherInterface || !keepsAddress
            attempts[index].path = path
            metered.move(id, attempts[index].number, to: path)
        }
        setRouteIfConcerned(route)
        // Mostly it uses the path that it was begun for, and each change of the paths is handled when it comes.
        if isElsewhere { evaluateAttempt(id) }
    }

    /// A name whose host is reached as all others are stays in the shared groups.
    private mutating func setRouteIfConcerned(_ route: DestinationRoute) {
        guard let site = destinations[route.destination], needsOwnGroup(route) || destinations[site].isSeparate else {
            return
        }
        setRoute(route, of: site)
    }

    private func needsOwnGroup(_ route: DestinationRoute) -> Bool {
        route.needsOwnGroup(besides: network.paths?.paths ?? [])
    }

    /// Gives the requests of a name groups of their own. This looks at every request. It happens once for each name
    /// with a route of its own, while the name has requests.
    private mutating func separate(_ site: SiteIndex) {
        destinations.separate(site)
        for slot in requests.indices where requests[slot].place != .free {
            let entry = requests[slot]
            guard destinations[entry.destination].site == site, gates[entry.group].key.destination == nil else {
                continue
            }
            // A request that an interceptor has follows when it is back (``joinSeparated(_:)``).
            guard entry.place != .preparing, entry.place != .judged else { continue }
            regroup(slot, to: group(of: entry, payer: gates[entry.group].key.payer))
        }
    }

    /// Gives requests the groups of those who pay for them, where a budget of each user's is new or gone. This looks at
    /// every request.
    mutating func regroupByPayer() {
        for slot in requests.indices where requests[slot].place != .free {
            let entry = requests[slot]
            let before = gates[entry.group].key.payer
            let payer = metered.payer(of: entry.owner, isOverBudget: before == .exempt)
            if payer != before { regroup(slot, to: group(of: entry, payer: payer)) }
        }
    }

    private mutating func regroup(_ slot: Slot, to group: GroupIndex) {
        let entry = requests[slot]
        if let index = attempts.index(at: slot) { endTrial(index) }
        if entry.place.isPlaced { unplace(slot) }
        move(slot, to: group)
        guard entry.place.isPlaced else { return }
        requests[slot].flags = entry.flags
        place(slot)
        requests[slot].since = entry.since
    }

    /// The group that a request belongs to now: its host's, once that is separate.
    private mutating func group(of entry: QueueEntry, payer: MeteredPayer) -> GroupIndex {
        let key = gates[entry.group].key
        return group(
            key.condition, at: entry.destination, exposesSecrets: key.exposesSecrets, interceptor: key.interceptor,
            payer: payer)
    }

    private mutating func move(_ slot: Slot, to group: GroupIndex) {
        let entry = requests[slot]
        join(group, at: entry.destination)
        leave(entry.group, at: entry.destination)
        requests[slot].group = group
    }

    /// Gives a request that is in no line the group of its destination, if that was separated meanwhile.
    mutating func joinSeparated(_ slot: Slot) {
        guard gates[requests[slot].group].key.destination == nil,
            destinations.site(of: requests[slot].destination).isSeparate
        else { return }
        let entry = requests[slot]
        move(slot, to: group(of: entry, payer: gates[entry.group].key.payer))
    }

    /// An attempt over another path than its group's shows nothing of that path.
    private mutating func endTrial(_ index: Int) {
        guard attempts[index].isTrial else { return }
        canaryWithdrawn(attempts[index])
        attempts[index].isTrial = false
    }

    // MARK: Lookups of names that no default route serves

    /// Schedules the lookup, once in each network, of the names whose requests wait at a closed gate.
    mutating func lookUpStrandedNames() {
        guard network.hasLinks, gates.all.contains(where: { gates[$0].count > 0 && !gates[$0].gate.isOpen }) else {
            return
        }
        for site in destinations.allSites { lookUpIfStranded(site) }
    }

    mutating func lookUpIfStranded(_ site: SiteIndex) {
        guard network.hasLinks, destinations.lookups.isDue(site), isStranded(site) else { return }
        destinations.lookups.schedule(site, at: now)
    }

    private func isStranded(_ site: SiteIndex) -> Bool {
        guard !destinations[site].isAddress else { return false }
        func isStranded(_ group: GroupIndex) -> Bool {
            gates[group].gate.isClosed && mayHaveOwnPath(gates[group].key.condition)
        }
        return destinations[site].sharedGroups.keys.contains(where: isStranded)
            || destinations[site].routedGroups.contains(where: isStranded)
    }

    /// Whether a route of the host's own could satisfy the condition. It cannot if all links have default routes and
    /// are of another class: then the name is not looked up over a network that its request must not use.
    private func mayHaveOwnPath(_ condition: NetworkCondition) -> Bool {
        guard let paths = network.paths else { return false }
        return paths.links.contains { index in
            guard let path = paths[interfaceIndex: index] else { return true }
            return condition.unmet(on: path).isDisjoint(with: [.linkClass, .metered, .network])
        }
    }

    /// - Parameter portion: The number of sites that may be handled.
    mutating func lookUpNames(portion: inout Int) {
        guard network.paths != nil else { return }
        while portion > 0, let site = destinations.lookups.popDue(at: now) {
            portion -= 1
            guard isStranded(site), network.hasLinks else { continue }
            let destination = destinations[site].destination
            let users = destinations[site].records.map { destinations[$0].owner }
            if let owner = destinations.lookups.begin(site, destination, for: users, at: now) {
                turn.actions.append(.lookUp(destination, owner: owner))
            }
        }
    }

    mutating func lookedUp(_ destination: Destination, _ route: DestinationRoute?) {
        destinations.lookups.ended(destination)
        guard let site = destinations[destination] else { return }
        destinations.lookups.ended(site, isResolved: route != nil, at: now)
        if let route { setRouteIfConcerned(route) }
        destinations.lookups.scheduleNext(site, isStranded: isStranded(site), at: now)
    }

    /// The reason of a request's wait whose name could not be resolved, in addition to the path that it lacks.
    func lookupBlock(of entry: QueueEntry) -> Block? {
        guard gates[entry.group].gate.isClosed,
            let since = destinations.lookups.unresolvedSince(destinations[entry.destination].site)
        else { return nil }
        return Block(blocker: .name, since: since)
    }
}
