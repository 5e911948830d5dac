package import ReachCore

/// Conditions and the paths that satisfy them: which gates open and close, and over which interfaces requests are sent.
extension QueueScheduler {
    /// The conditions of unfinished requests, each with their number.
    package var conditions: [NetworkCondition: Int] {
        var counts: [GroupIndex: Int] = [:]
        for slot in requests.indices where requests[slot].place != .free && requests[slot].place != .dead {
            counts[requests[slot].group, default: 0] += 1
        }
        return counts.reduce(into: [:]) { $0[gates[$1.key].key.condition, default: 0] += $1.value }
    }

    // MARK: Groups

    /// The group of requests for a destination.
    mutating func group(
        _ condition: NetworkCondition, at destination: DestinationIndex, exposesSecrets: Bool, interceptor: String?,
        payer: MeteredPayer
    ) -> GroupIndex {
        let site = destinations[destination].site
        let isSeparate = condition.isTargetReachable || destinations[site].isSeparate
        let key = RequestGroup.Key(
            condition: condition, destination: isSeparate ? destinations[site].destination : nil,
            exposesSecrets: exposesSecrets && !condition.isValidated, interceptor: interceptor, payer: payer)
        if let group = gates[key] { return group }
        let missing: Blocker = network.paths == nil ? .validated : Blocker(condition.unmetWithoutPath)
        let group = gates.insert(key, missing: missing, at: now, epoch: epoch)
        beginGate(group)
        if isSeparate { follow(site, group, for: destinations[destination].owner) }
        return group
    }

    /// Asks for the path to the group's host, or for its route. Another group may have asked already.
    private mutating func follow(_ site: SiteIndex, _ group: GroupIndex, for owner: UInt32) {
        let (isTarget, destination) = (gates[group].key.condition.isTargetReachable, destinations[site].destination)
        let other = destinations.follow(site, group, isTarget: isTarget)
        guard let other else {
            return turn.actions.append(isTarget ? .watch(destination, owner: owner) : .followRoute(destination))
        }
        guard isTarget, gates[other].isTargetKnown else { return }
        gates.setTarget(gates[other].targetPath, of: group)
        evaluate(group)
    }

    private mutating func unfollow(_ site: SiteIndex, _ group: GroupIndex) {
        let (isTarget, destination) = (gates[group].key.condition.isTargetReachable, destinations[site].destination)
        guard destinations.unfollow(site, group, isTarget: isTarget) else { return }
        turn.actions.append(isTarget ? .unwatch(destination) : .unfollowRoute(destination))
    }

    /// The gate of a new group: paths that came before a moment ago count at once.
    private mutating func beginGate(_ group: GroupIndex) {
        let now = now
        if network.hasGivenUpWaiting {
            changeGate(group) { gate, _ in
                gate.giveUpWaiting()
                return nil
            }
        }
        guard network.paths != nil, hasKnownPath(group) else { return }
        let verdict = verdict(of: group)
        gates.setPath(verdict.path, of: group)
        let settled = network.changed.map { $0 + policy.paths.settling } ?? now
        // A canary of other hosts says nothing about a host's own path.
        let isShared = gates[group].key.destination == nil
        let other = isShared ? verdict.path.flatMap { gates.unprovedGate(by: $0.interfaceIndex) } : nil
        changeGate(group) { gate, _ in
            gate.begin(on: verdict.path, missing: verdict.missing, settledAt: settled, like: other, at: now)
        }
    }

    mutating func join(_ group: GroupIndex, at destination: DestinationIndex) {
        gates.join(group)
        if gates[group].key.destination == nil { destinations.share(group, at: destination, 1) }
    }

    mutating func leave(_ group: GroupIndex, at destination: DestinationIndex) {
        if gates[group].key.destination == nil { destinations.share(group, at: destination, -1) }
        guard let group = gates.leave(group) else { return }
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil)
        if let site = gates[group].key.destination.flatMap({ destinations[$0] }) { unfollow(site, group) }
        gates.remove(group, at: now)
    }

    // MARK: The network

    mutating func pathsChanged(to set: PathSet) {
        let (isNewEpoch, isNewNetwork) = network.update(set, at: now)
        if isNewNetwork { destinations.lookups.networkChanged() }
        if isNewEpoch {
            destinations.epochChanged()
            for destination in destinations.attentive { lines.resume(destination: destination) }
        }
        evaluateAll()
        for id in attempts.ids { evaluateAttempt(id) }
        lookUpStrandedNames()
    }

    /// Requests that were not sent while the machine slept were not delayed by the network, and other hosts have not
    /// waited with it.
    mutating func woke(after slept: Duration) {
        let (now, policy) = (now, policy)
        for group in gates.all {
            changeGate(group) { gate, _ in
                gate.wake(after: slept, at: now, policy)
                return nil
            }
            relink(group)
        }
        let latest = gates.all.compactMap { gates[$0].gate.times?.others }.max()
        admission.wake(after: slept, first: max(now, latest ?? now))
    }

    mutating func targetPathChanged(_ destination: Destination, _ path: QueuePath?) {
        guard let site = destinations[destination] else { return }
        for group in destinations[site].targetGroups {
            gates.setTarget(path, of: group)
            evaluate(group)
        }
        for id in attempts.ids { evaluateAttempt(id) }
    }

    private func verdict(of group: GroupIndex) -> ConditionVerdict {
        let group = gates[group]
        guard network.paths != nil else { return .unmet(.validated) }
        let paths = network.offered(at: now)
        let bar = metered.bar(for: group.key.payer)
        guard !bar.isEmpty else { return verdict(of: group, on: paths) { $0 } }
        let verdict = verdict(of: group, on: paths) { $0.filter { !bar.bars($0) } }
        if verdict.path != nil { return verdict }
        let unlimited = self.verdict(of: group, on: paths) { $0 }
        return unlimited.path == nil ? unlimited : .unmet(.meteredBudget)
    }

    /// - Parameter filter: Leaves those of some paths that may be used.
    private func verdict(
        of group: RequestGroup, on paths: [QueuePath], _ filter: ([QueuePath]) -> [QueuePath]
    ) -> ConditionVerdict {
        guard let destination = group.key.destination else { return group.key.verdict(on: filter(paths)) }
        guard group.key.condition.isTargetReachable else {
            var route = destinations.route(to: destination) ?? DestinationRoute(destination)
            let hasOwn = !route.own.isEmpty
            route.own = filter(route.own)
            // What has a route of its own goes by no other.
            if hasOwn, route.own.isEmpty, !route.isByDefault { return group.key.verdict(on: []) }
            return group.key.verdict(on: route, filter(paths))
        }
        return group.key.verdict(on: filter(group.targetPath.map { [$0] } ?? []))
    }

    /// Updates a group's gate to the paths of now.
    mutating func evaluate(_ group: GroupIndex) {
        guard network.paths != nil, hasKnownPath(group) else { return }
        let verdict = verdict(of: group)
        if let path = verdict.path { gates.setPath(path, of: group) }
        let (before, isProved) = (gates[group].gate.state, network.isProved(gates[group].path))
        let (now, policy) = (now, policy)
        changeGate(group) { gate, random in
            gate.update(
                path: verdict.path, missing: verdict.missing, isProved: isProved, at: now, policy, using: &random)
        }
        guard gates[group].gate.state == before, !gates[group].gate.isClosed else { return }
        // The path may be another one, or the epoch.
        relink(group)
        gates.spreadWaits(of: group, inEpoch: epoch, at: now, using: &turn.random)
        gates.refreshTimer(group, at: now)
    }

    // MARK: Proof of a path

    /// The attempt's destination answered, whatever it said: its path works.
    mutating func answered(_ index: Int) {
        let (slot, path) = (attempts[index].slot, attempts[index].path)
        guard usesDefaultRoutes(slot) else {
            let host = gates[requests[slot].group].key.destination
            return prove(by: path.interfaceIndex) { $0.key.destination == host }
        }
        proved(path.interfaceIndex)
        let destination = destinations[requests[slot].destination].destination
        if network.note(answerOf: destination, by: path, at: now) { evaluateAll() }
    }

    private func usesDefaultRoutes(_ slot: Slot) -> Bool {
        guard let destination = gates[requests[slot].group].key.destination else { return true }
        return destinations.usesDefaultRoutes(destination)
    }

    /// The attempt ended without any reaction of its destination. Another way to the Internet may be tried before this
    /// one.
    mutating func noteSilence(of attempt: RunningAttempt) {
        guard usesDefaultRoutes(attempt.slot), attempt.lingerUntil == nil, attempt.epoch == epoch else { return }
        let destination = destinations[requests[attempt.slot].destination].destination
        if network.note(silenceOf: destination, by: attempt.path, at: now) { evaluateAll() }
    }

    /// Updates all gates to the paths of now.
    mutating func evaluateAll() { for group in gates.all { evaluate(group) } }

    /// A host answered over the path of that interface.
    mutating func proved(_ interface: UInt32) {
        if network.prove(interface) { prove(by: interface) { _ in true } }
    }

    private mutating func prove(by interface: UInt32, _ isConcerned: (RequestGroup) -> Bool) {
        guard !gates.unproved.isEmpty else { return }
        let now = now
        for group in gates.unproved.sorted()
        where gates[group].path?.interfaceIndex == interface && isConcerned(gates[group]) {
            changeGate(group) { gate, _ in gate.prove(at: now) }
        }
    }
}

extension RequestGroup.Key {
    func verdict(on paths: [QueuePath]) -> ConditionVerdict {
        let verdict = condition.verdict(on: paths)
        guard case .met(let path) = verdict, !path.takes(exposesSecrets: exposesSecrets) else { return verdict }
        let others = condition.verdict(on: paths.filter { $0.takes(exposesSecrets: exposesSecrets) })
        return others.path == nil ? .unmet(.notValidated) : others
    }
}

extension ConditionVerdict {
    var missing: Blocker {
        if case .unmet(let missing) = self { missing } else { [] }
    }
}
