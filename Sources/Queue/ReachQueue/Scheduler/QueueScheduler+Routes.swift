internal import ReachCore

/// Destinations with routes of their own: their requests form groups apart, whose gates are the paths to them.
///
/// An address stands apart from the beginning, since its route is known without a packet. A name stands with all others until
/// an attempt, or a lookup while no default route serves it, finds that its host has a route of its own.
extension QueueScheduler {
    func isApart(_ destination: Destination) -> Bool {
        siteNumber(of: destination).map { sites[Int($0)].isApart } ?? false
    }

    func route(to destination: Destination) -> DestinationRoute? {
        siteNumber(of: destination).flatMap { sites[Int($0)].route }
    }

    private func siteNumber(of destination: Destination) -> Int32? {
        if let lastDestination, destinations[Int(lastDestination)].destination == destination {
            return destinations[Int(lastDestination)].site
        }
        return siteNumbers[destination]
    }

    /// Whether a destination apart turned out to be reached by the default routes, as the others are.
    func goesByDefault(_ destination: Destination) -> Bool {
        route(to: destination).map { $0.isByDefault && $0.own.isEmpty } ?? false
    }

    /// Whether what the group waits for has been looked at.
    func hasKnownPath(_ group: Int32) -> Bool {
        let group = groups[Int(group)]
        guard let destination = group.key.destination else { return true }
        return group.key.condition.isTargetReachable ? group.isTargetKnown : route(to: destination) != nil
    }

    /// The paths that an attempt of this group may stay on.
    ///
    /// - Parameter isBegun: What began by a default route may end by it, though its destination got a route of its own
    ///   meanwhile.
    func pathsInReach(of group: RequestGroup, _ paths: PathSet, isBegun: Bool) -> PathSet {
        guard let destination = group.key.destination else { return paths }
        if group.key.condition.isTargetReachable {
            // The way to a host may be none by which the Internet is reached.
            return group.isTargetKnown ? PathSet(group.targetPath.map { [$0] } ?? [], epoch: paths.epoch) : paths
        }
        guard let route = route(to: destination) else { return paths }
        return PathSet(route.own + (isBegun || route.isByDefault ? paths.paths : []), epoch: paths.epoch)
    }

    // MARK: Groups

    mutating func join(_ group: Int32, at destination: Int32) {
        groups[Int(group)].count += 1
        guard groups[Int(group)].key.destination == nil else { return }
        sites[Int(destinations[Int(destination)].site)].sharedGroups[group, default: 0] += 1
    }

    mutating func leave(_ group: Int32, at destination: Int32) {
        if groups[Int(group)].key.destination == nil {
            let site = Int(destinations[Int(destination)].site)
            let left = (sites[site].sharedGroups[group] ?? 1) - 1
            sites[site].sharedGroups[group] = left > 0 ? left : nil
        }
        leaveGroup(group)
    }

    mutating func followRoute(_ group: Int32, _ destination: Destination) {
        guard let site = siteNumbers[destination].map(Int.init) else { return }
        if sites[site].routedGroups.isEmpty { turn.actions.append(.followRoute(destination)) }
        sites[site].routedGroups.append(group)
    }

    mutating func unfollowRoute(_ group: Int32, _ destination: Destination, _ site: Int) {
        sites[site].routedGroups.removeAll { $0 == group }
        guard sites[site].routedGroups.isEmpty else { return }
        sites[site].route = nil
        sites[site].isApart = sites[site].isAddress
        turn.actions.append(.unfollowRoute(destination))
    }

    mutating func resumeLines(to destination: Destination) {
        guard let site = siteNumbers[destination] else { return }
        for record in sites[Int(site)].records { lines.resume(destination: record) }
    }

    // MARK: What the network says

    mutating func routesChanged(_ routes: [DestinationRoute]) {
        for route in routes {
            if let site = siteNumbers[route.destination].map(Int.init) { setRoute(route, ofSite: site) }
        }
        lookUpStrandedNames()
    }

    private mutating func setRoute(_ route: DestinationRoute, ofSite site: Int) {
        let isNew = sites[site].route != route
        sites[site].route = route
        if !sites[site].isApart, !route.own.isEmpty { separate(site) }
        guard isNew else { return }
        let groups = sites[site].routedGroups
        for group in groups { evaluate(group) }
        // What failed by another route need not wait for its next try by this one.
        for record in sites[site].records where troubles[record] != nil {
            troubles[record]?.networkNotBefore = BootTime(nanoseconds: .min)
            lines.resume(destination: record)
        }
        for group in groups where self.groups[Int(group)].gate.isOpen { cutWaits(of: group) }
        for id in running.map(\.id) { evaluateAttempt(id) }
    }

    private mutating func cutWaits(of group: Int32) {
        let index = Int(group)
        guard !groups[index].networkWaits.isEmpty, groups[index].cutWaitsAt == nil else { return }
        groups[index].cutWaitsAt = groups[index].gate.spreadAgain(at: now, policy, using: &random)
        refreshGateTimer(group)
    }

    /// An attempt has resolved its destination's name, and looked at the routes.
    mutating func attemptRouted(_ id: RequestID, by path: QueuePath?, _ route: DestinationRoute) {
        var isElsewhere = false
        if let path, let index = place(of: id) {
            let isOtherInterface = running[index].path.interfaceIndex != path.interfaceIndex
            if isOtherInterface { endTrial(index) }
            // An address of the path that it was begun for is still there (``RunningAttempt/path(in:)``).
            let keepsAddress = path.sources.isEmpty || !path.sources.isDisjoint(with: running[index].path.sources)
            isElsewhere = isOtherInterface || !keepsAddress
            running[index].path = path
        }
        if let site = siteNumber(of: route.destination).map(Int.init), !route.own.isEmpty || sites[site].isApart {
            setRoute(route, ofSite: site)
        }
        // Mostly it goes by the path that it was begun for, and each change of the paths is looked at when it comes.
        if isElsewhere { evaluateAttempt(id) }
    }

    /// Gives the requests of a name groups of their own. This looks at every request once; it happens once for each name with
    /// a route of its own, for as long as it has requests.
    private mutating func separate(_ site: Int) {
        sites[site].isApart = true
        let destination = sites[site].destination
        for slot in entries.indices where entries[slot].place != .free {
            let entry = entries[slot]
            guard Int(destinations[Int(entry.destination)].site) == site,
                case let key = groups[Int(entry.group)].key, key.destination == nil
            else { continue }
            // What an interceptor has in its hands follows when it is back (``joinSeparated(_:)``).
            guard entry.place != .preparing, entry.place != .judged else { continue }
            let group = groupNumber(
                key.condition, destination, isRevealing: key.isRevealing, interceptor: key.interceptor,
                for: entry.owner)
            move(Int32(slot), to: group)
        }
    }

    /// Gives a request that is in no line the group of its destination, if that was separated meanwhile.
    mutating func joinSeparated(_ slot: Int32) {
        let entry = entries[Int(slot)]
        let key = groups[Int(entry.group)].key
        let site = Int(destinations[Int(entry.destination)].site)
        guard key.destination == nil, sites[site].isApart else { return }
        let group = groupNumber(
            key.condition, sites[site].destination, isRevealing: key.isRevealing, interceptor: key.interceptor,
            for: entry.owner)
        join(group, at: entry.destination)
        leave(entry.group, at: entry.destination)
        entries[Int(slot)].group = group
    }

    /// What is sent by another path than its group's shows nothing of that one.
    private mutating func endTrial(_ index: Int) {
        guard running[index].isTrial else { return }
        canaryWithdrawn(running[index])
        running[index].isTrial = false
    }

    private mutating func move(_ slot: Int32, to group: Int32) {
        let entry = entries[Int(slot)]
        if let index = running.firstIndex(where: { $0.slot == slot }) { endTrial(index) }
        let isPlaced = [.ready, .networkWait, .destinationWait].contains(entry.place)
        if isPlaced { unplace(slot) }
        join(group, at: entry.destination)
        leave(entry.group, at: entry.destination)
        entries[Int(slot)].group = group
        guard isPlaced else { return }
        entries[Int(slot)].flags = entry.flags
        place(slot)
        entries[Int(slot)].since = entry.since
    }
}

/// Names that no default route serves: their hosts may have routes of their own, in an intranet or behind a VPN. No one knows
/// before the names are resolved, and all names cannot be resolved all the time: each is once in each network, and then with
/// growing waits.
extension QueueScheduler {
    /// Lookups on their way at a time, and of those one user's.
    private static let lookupLimit = 8
    private static let lookupLimitOfUser = 4
    private static let lookupFirstWait = Duration.seconds(30)
    private static let lookupLongestWait = Duration.seconds(900)
    /// When a user's names are looked at again who has as many lookups on their way as may be.
    private static let lookupTurn = Duration.seconds(1)

    /// Has the names looked up, once in each network, whose requests wait at a closed gate.
    mutating func lookUpStrandedNames() {
        guard let paths, !paths.links.isEmpty, groups.contains(where: { $0.count > 0 && !$0.gate.isOpen }) else {
            return
        }
        for site in siteNumbers.values.sorted() where sites[Int(site)].lookup.network != networkNumber {
            if isStranded(site) { lookupTimers.set(site, to: now) }
        }
    }

    /// One more request waits for a name.
    mutating func lookUpSoon(_ slot: Int32) {
        let site = destinations[Int(entries[Int(slot)].destination)].site
        guard paths?.links.isEmpty == false, sites[Int(site)].lookup.network != networkNumber, isStranded(site) else {
            return
        }
        lookupTimers.setNoLater(site, than: now)
    }

    private func isStranded(_ site: Int32) -> Bool {
        let site = sites[Int(site)]
        guard !site.isAddress else { return false }
        func isStranded(_ group: Int32) -> Bool {
            groups[Int(group)].gate.isClosed && mayHaveOwnPath(groups[Int(group)].key.condition)
        }
        return site.sharedGroups.keys.contains(where: isStranded) || site.routedGroups.contains(where: isStranded)
    }

    /// Whether a route of the host's own could satisfy the condition. It cannot where all links have default routes and are of
    /// another class: then the name is not asked for over a network that its request must not use.
    private func mayHaveOwnPath(_ condition: NetworkCondition) -> Bool {
        guard let paths else { return false }
        return paths.links.contains { index in
            guard let path = paths[interfaceIndex: index] else { return true }
            return condition.unmet(on: path).isDisjoint(with: [.linkClass, .metered, .network])
        }
    }

    /// - Parameter portion: How many sites may be touched.
    mutating func lookUpNames(portion: inout Int) {
        guard paths != nil else { return }
        while portion > 0, let site = lookupTimers.popDue(at: now) {
            portion -= 1
            guard isStranded(site), paths?.links.isEmpty == false, let owner = ownerForLookup(site) else { continue }
            let destination = sites[Int(site)].destination
            guard pendingLookups[destination] == nil else { continue }
            guard pendingLookups.count < Self.lookupLimit,
                pendingLookups.values.count(where: { $0 == owner }) < Self.lookupLimitOfUser
            else {
                lookupTimers.set(site, to: now + Self.lookupTurn)
                continue
            }
            sites[Int(site)].lookup.network = networkNumber
            pendingLookups[destination] = owner
            turn.actions.append(.lookUp(destination, owner: owner))
        }
    }

    /// Of the users who wait for the name, the one with the fewest lookups on their way.
    private func ownerForLookup(_ site: Int32) -> UInt32? {
        let owners = sites[Int(site)].records.map { destinations[Int($0)].owner }
        return owners.min { first, second in
            pendingLookups.values.count { $0 == first } < pendingLookups.values.count { $0 == second }
        }
    }

    mutating func lookedUp(_ destination: Destination, _ route: DestinationRoute?) {
        pendingLookups[destination] = nil
        guard let site = siteNumbers[destination] else { return }
        let index = Int(site)
        sites[index].lookup.isUnresolved = route == nil
        sites[index].lookup.since = now
        if let route, !route.own.isEmpty || sites[index].isApart { setRoute(route, ofSite: index) }
        guard isStranded(site) else {
            sites[index].lookup.failures = 0
            return
        }
        if sites[index].lookup.network != networkNumber {
            // Another network came meanwhile.
            sites[index].lookup.failures = 0
            return lookupTimers.set(site, to: now)
        }
        sites[index].lookup.failures += 1
        let wait = Self.lookupFirstWait * (1 << min(sites[index].lookup.failures - 1, 5))
        lookupTimers.set(site, to: now + min(wait, Self.lookupLongestWait))
    }

    /// Why a request waits whose name could not be resolved, in addition to the path that it lacks.
    func lookupBlock(of entry: QueueEntry) -> Block? {
        let site = destinations[Int(entry.destination)].site
        guard sites[Int(site)].lookup.isUnresolved, groups[Int(entry.group)].gate.state == .closed else { return nil }
        return Block(blocker: .name, since: sites[Int(site)].lookup.since)
    }
}
