package import ReachCore

/// Conditions and the paths that satisfy them: what opens, what closes, and what goes by which interface.
extension QueueScheduler {
    /// The conditions of requests that are not over, each with their number.
    package var conditions: [NetworkCondition: Int] {
        var counts: [Int32: Int] = [:]
        for entry in entries where entry.place != .free && entry.place != .dead { counts[entry.group, default: 0] += 1 }
        return counts.reduce(into: [:]) { $0[groups[Int($1.key)].key.condition, default: 0] += $1.value }
    }

    // MARK: Groups come and go

    /// - Parameter owner: The owner of the request that needs the group.
    mutating func groupNumber(
        _ condition: NetworkCondition, _ destination: Destination, isRevealing: Bool, interceptor: String?,
        for owner: UInt32
    ) -> Int32 {
        let key = RequestGroup.Key(
            condition: condition, destination: condition.isTargetReachable || isApart(destination) ? destination : nil,
            isRevealing: isRevealing && !condition.isValidated, interceptor: interceptor)
        if let lastGroup, groups[Int(lastGroup)].key == key { return lastGroup }
        if let number = groupNumbers[key] {
            lastGroup = number
            return number
        }
        let missing: Blocker = paths == nil ? .validated : Blocker(condition.unmetWithoutPath)
        let group = RequestGroup(key, gate: PathGate(missing: missing, at: now), epoch: epoch)
        let number: Int32
        if let free = freeGroups.popLast() {
            number = free
            groups[Int(free)] = group
        } else {
            number = Int32(groups.count)
            groups.append(group)
            lines.grow(groups: groups.count)
        }
        groupNumbers[key] = number
        beginGate(number)
        if let destination = key.destination {
            condition.isTargetReachable
                ? followTarget(number, destination, for: owner) : followRoute(number, destination)
        }
        return number
    }

    /// The path to its host is asked for, or known already from another group.
    private mutating func followTarget(_ group: Int32, _ destination: Destination, for owner: UInt32) {
        guard let site = siteNumbers[destination].map(Int.init) else { return }
        let other = sites[site].targetGroups.first
        sites[site].targetGroups.append(group)
        guard let other else { return turn.actions.append(.watch(destination, owner: owner)) }
        guard groups[Int(other)].isTargetKnown else { return }
        groups[Int(group)].targetPath = groups[Int(other)].targetPath
        groups[Int(group)].isTargetKnown = true
        evaluate(group)
    }

    /// The gate of a new condition: what was so before a moment ago counts at once.
    private mutating func beginGate(_ group: Int32) {
        let index = Int(group)
        if hasGivenUpWaiting { groups[index].gate.giveUpWaiting() }
        guard paths != nil, hasKnownPath(group) else { return }
        let (verdict, now) = (verdict(of: group), now)
        groups[index].path = verdict.path
        let settled = pathsChanged.map { $0 + policy.settling } ?? now
        // Of a host's own path the others' canary says nothing.
        let isShared = groups[index].key.destination == nil
        let other = isShared ? verdict.path.flatMap { unprovedGate(by: $0.interfaceIndex) } : nil
        changeGate(group, isNew: true) { gate, _ in
            gate.begin(on: verdict.path, missing: verdict.missing, settledAt: settled, like: other, at: now)
        }
    }

    /// One of its requests is forgotten.
    mutating func leaveGroup(_ group: Int32) {
        groups[Int(group)].count -= 1
        guard groups[Int(group)].count == 0 else { return }
        if groups[Int(group)].key.destination != nil { return removeGroup(group) }
        // Its flapping is remembered for a while.
        idleGroups.append(group)
        guard idleGroups.count > 64 else { return }
        let oldest = idleGroups.removeFirst()
        if groups[Int(oldest)].count == 0, groupNumbers[groups[Int(oldest)].key] == oldest { removeGroup(oldest) }
    }

    private mutating func removeGroup(_ group: Int32) {
        let index = Int(group)
        if !groups[index].gate.isClosed { openGroups -= 1 }
        groups[index].gate = PathGate(missing: [], at: now)
        unproved.remove(group)
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil, urgent: false, others: false)
        gateTimers.remove(group)
        groupTimers.remove(group)
        groupNumbers[groups[index].key] = nil
        if lastGroup == group { lastGroup = nil }
        if let destination = groups[index].key.destination, let site = siteNumbers[destination].map(Int.init) {
            groups[index].key.condition.isTargetReachable
                ? unfollowTarget(group, destination, site) : unfollowRoute(group, destination, site)
        }
        idleGroups.removeAll { $0 == group }
        freeGroups.append(group)
    }

    private mutating func unfollowTarget(_ group: Int32, _ destination: Destination, _ site: Int) {
        sites[site].targetGroups.removeAll { $0 == group }
        // Requests with other conditions may need it still.
        if sites[site].targetGroups.isEmpty { turn.actions.append(.unwatch(destination)) }
    }

    // MARK: What the network says

    mutating func pathsChanged(to set: PathSet) {
        let isFirst = paths == nil
        let epochMoved = set.epoch != epoch || isFirst
        if set.paths != paths?.paths || epochMoved { pathsChanged = isFirst && !hasGivenUpWaiting ? nil : now }
        if epochMoved || set.links != paths?.links { networkNumber += 1 }
        notePaths(set)
        paths = set
        if epochMoved { epochMovedOn() }
        for group in groupNumbers.values.sorted() { evaluate(group) }
        for id in running.map(\.id) { evaluateAttempt(id) }
        lookUpStrandedNames()
    }

    /// What was not sent while the machine slept was not kept back by the network, and other hosts have not waited with it.
    mutating func woke(after slept: Duration) {
        let (now, policy) = (now, policy)
        for group in groupNumbers.values.sorted() {
            changeGate(group) { gate, _ in
                gate.wake(after: slept, at: now, policy)
                return nil
            }
            relink(group)
        }
        let latest = groupNumbers.values.compactMap { groups[Int($0)].gate.times?.others }.max()
        spacing.wake(after: slept, first: max(now, latest ?? now), policy)
    }

    mutating func targetPathChanged(_ destination: Destination, _ path: QueuePath?) {
        guard let site = siteNumbers[destination] else { return }
        for group in sites[Int(site)].targetGroups {
            groups[Int(group)].targetPath = path
            groups[Int(group)].isTargetKnown = true
            evaluate(group)
        }
        for id in running.map(\.id) { evaluateAttempt(id) }
    }

    private mutating func epochMovedOn() {
        evidence.forgetAnswers()
        for destination in attentive {
            for interface in troubles[destination]?.breakers.keys.map(\.self) ?? [] {
                troubles[destination]?.breakers[interface]?.epochChanged()
            }
            lines.resume(destination: destination)
        }
    }

    private func verdict(of group: Int32) -> ConditionVerdict {
        let group = groups[Int(group)]
        guard let paths else { return .unmet(.validated) }
        guard let destination = group.key.destination else { return group.key.verdict(on: paths.paths) }
        guard group.key.condition.isTargetReachable else {
            return group.key.verdict(on: route(to: destination) ?? DestinationRoute(destination), paths.paths)
        }
        return group.key.verdict(on: group.targetPath.map { [$0] } ?? [])
    }

    mutating func evaluate(_ group: Int32) {
        let index = Int(group)
        guard paths != nil, hasKnownPath(group) else { return }
        let verdict = verdict(of: group)
        if let path = verdict.path { groups[index].path = path }
        let (before, isProved, now, policy) = (groups[index].gate.state, isProved(group), now, policy)
        changeGate(group) { gate, random in
            gate.update(
                path: verdict.path, missing: verdict.missing, isProved: isProved, at: now, policy, using: &random)
        }
        guard groups[index].gate.state == before, !groups[index].gate.isClosed else { return }
        groupMovedOn(group)
        refreshGateTimer(group)
    }

    /// Its gate stays as it is; perhaps by another path, perhaps in another epoch.
    private mutating func groupMovedOn(_ group: Int32) {
        let index = Int(group)
        relink(group)
        // Of one that settles, waits are cut when it has settled.
        guard groups[index].gate.deadline == nil, groups[index].epoch != epoch else { return }
        groups[index].epoch = epoch
        guard !groups[index].networkWaits.isEmpty else { return }
        groups[index].cutWaitsAt = groups[index].gate.spreadAgain(at: now, policy, using: &random)
    }
}

extension RequestGroup.Key {
    func verdict(on paths: [QueuePath]) -> ConditionVerdict {
        let verdict = condition.verdict(on: paths)
        guard case .met(let path) = verdict, !path.takes(isRevealing: isRevealing) else { return verdict }
        let others = condition.verdict(on: paths.filter { $0.takes(isRevealing: isRevealing) })
        return others.path == nil ? .unmet(.notValidated) : others
    }
}

extension ConditionVerdict {
    var missing: Blocker {
        if case .unmet(let missing) = self { missing } else { [] }
    }
}
