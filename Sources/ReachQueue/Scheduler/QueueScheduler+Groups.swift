internal import ReachCore

/// Constraints and the paths that satisfy them: what opens, what closes, and what goes by which interface.
extension QueueScheduler {
    // MARK: Groups come and go

    mutating func groupNumber(_ constraint: Constraint, _ destination: Destination) -> Int32 {
        let key = RequestGroup.Key(
            constraint: constraint, destination: constraint.isTargetReachable ? destination : nil)
        if let number = groupNumbers[key] { return number }
        let missing: Blocker = paths == nil ? .validated : constraint.isTargetReachable ? .target : .linkClass
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
        if let destination = key.destination, let record = destinationNumbers[destination] {
            destinations[Int(record)].targetGroups.append(number)
            turn.actions.append(.watch(destination))
        }
        beginGate(number)
        return number
    }

    /// The gate of a new constraint: what was so before a moment ago counts at once.
    private mutating func beginGate(_ group: Int32) {
        let index = Int(group)
        if hasGivenUpWaiting { groups[index].gate.giveUpWaiting() }
        // The way to a host is not known before somebody has looked.
        guard paths != nil, groups[index].key.destination == nil else { return }
        let verdict = verdict(of: group)
        groups[index].path = verdict.path
        let settled = pathsChanged.map { $0 + policy.gainDebounce } ?? now
        let change = groups[index].gate.begin(
            isMet: verdict.path != nil, missing: verdict.missing, settledAt: settled, at: now)
        if change != nil { groupOpened(group, after: .zero, isNew: true) }
        refreshGateTimer(group)
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
        if groups[index].gate.isOpen { openGroups -= 1 }
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil, urgent: false, others: false)
        gateTimers.remove(group)
        groupTimers.remove(group)
        groupNumbers[groups[index].key] = nil
        if let destination = groups[index].key.destination, let record = destinationNumbers[destination] {
            destinations[Int(record)].targetGroups.removeAll { $0 == group }
            turn.actions.append(.unwatch(destination))
        }
        idleGroups.removeAll { $0 == group }
        freeGroups.append(group)
    }

    // MARK: What the network says

    mutating func pathsChanged(to set: PathSet) {
        let isFirst = paths == nil
        let epochMoved = set.epoch != epoch || isFirst
        if set != paths { pathsChanged = isFirst && !hasGivenUpWaiting ? nil : now }
        paths = set
        if epochMoved { epochMovedOn() }
        for group in groupNumbers.values.sorted() { evaluate(group) }
        for id in running.map(\.id) { evaluateAttempt(id) }
    }

    mutating func targetPathChanged(_ destination: Destination, _ path: QueuePath?) {
        guard let number = destinationNumbers[destination] else { return }
        for group in destinations[Int(number)].targetGroups {
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

    private func verdict(of group: Int32) -> ConstraintVerdict {
        let group = groups[Int(group)]
        guard let paths else { return .unmet(.validated) }
        guard group.key.destination != nil else { return group.key.constraint.verdict(on: paths.paths) }
        return group.key.constraint.verdict(on: group.targetPath.map { [$0] } ?? [])
    }

    private mutating func evaluate(_ group: Int32) {
        let index = Int(group)
        guard paths != nil, groups[index].key.destination == nil || groups[index].isTargetKnown else { return }
        let verdict = verdict(of: group)
        if let path = verdict.path { groups[index].path = path }
        switch groups[index].gate.update(isMet: verdict.path != nil, missing: verdict.missing, at: now, policy) {
        case .opened(let outage): groupOpened(group, after: outage, isNew: false)
        case .closed: groupClosed(group)
        case nil:
            if groups[index].gate.isOpen { groupMovedOn(group) }
        }
        refreshGateTimer(group)
    }

    /// Its gate stays open; perhaps by another path, perhaps in another epoch.
    private mutating func groupMovedOn(_ group: Int32) {
        let index = Int(group)
        relink(group)
        guard groups[index].epoch != epoch else { return }
        groups[index].epoch = epoch
        guard !groups[index].networkWaits.isEmpty else { return }
        groups[index].cutWaitsAt = groups[index].gate.spreadAgain(at: now, policy, using: &random)
    }

    // MARK: Opening and closing

    mutating func groupOpened(_ group: Int32, after outage: Duration, isNew: Bool) {
        let index = Int(group)
        openGroups += 1
        if !isNew {
            generation += 1
            groups[index].generation = generation
            if groups[index].count > 0 {
                var event = QueueEvent(.opened, at: moment, epoch: epoch)
                event.constraint = groups[index].key.constraint
                event.destination = groups[index].key.destination
                event.interface = groups[index].path?.interface
                event.count = groups[index].count
                tell(event)
            }
        }
        if outage > .zero, case .open(let from, _) = groups[index].gate.state {
            spacedUntil = max(spacedUntil, from + policy.spacingWindow(after: outage))
        }
        if groups[index].epoch != epoch {
            groups[index].epoch = epoch
            groups[index].cutWaitsAt = now
        }
        relink(group)
        refreshGroupTimer(group)
    }

    private mutating func groupClosed(_ group: Int32) {
        let index = Int(group)
        openGroups -= 1
        groups[index].cutWaitsAt = nil
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil, urgent: false, others: false)
        refreshGroupTimer(group)
        guard groups[index].count > 0 else { return }
        var event = QueueEvent(.closed, at: moment, epoch: epoch)
        event.constraint = groups[index].key.constraint
        event.destination = groups[index].key.destination
        event.blockers = groups[index].gate.missing
        event.count = groups[index].count
        tell(event)
    }

    /// Puts the group into the lines of its path's interface, as far as its time has come.
    private mutating func relink(_ group: Int32) {
        let index = Int(group)
        guard case .open(let from, let urgentFrom) = groups[index].gate.state, let path = groups[index].path else {
            return
        }
        setChannel(of: group, to: path)
        let channel = groups[index].channel
        lines.place(group: group, channel: channel, urgent: urgentFrom <= now, others: from <= now)
    }

    private mutating func setChannel(of group: Int32, to path: QueuePath?) {
        let index = Int(group)
        let old = groups[index].channel
        let new = path.map { channelNumber($0) } ?? -1
        guard old != new else { return }
        groups[index].channel = new
        // A breaker is for one way to a destination: by another it may be closed.
        for destination in attentive { lines.resume(destination: destination) }
        if new >= 0 { channels[Int(new)].groups += 1 }
        if old >= 0 {
            channels[Int(old)].groups -= 1
            freeChannelIfUnused(old)
        }
    }

    private mutating func channelNumber(_ path: QueuePath) -> Int32 {
        let limit = path.isCarried(by: .wwan) ? policy.modemLimit : policy.interfaceLimit
        for (number, channel) in channels.enumerated()
        where channel.interfaceIndex == path.interfaceIndex && !freeChannels.contains(Int32(number)) {
            channels[number].limit = limit
            return Int32(number)
        }
        let channel = Channel(interfaceIndex: path.interfaceIndex, limit: limit)
        if let free = freeChannels.popLast() {
            channels[Int(free)] = channel
            return free
        }
        channels.append(channel)
        lines.grow(channels: channels.count)
        return Int32(channels.count - 1)
    }

    mutating func freeChannelIfUnused(_ number: Int32) {
        let channel = channels[Int(number)]
        if channel.groups == 0, channel.running == 0, !freeChannels.contains(number) { freeChannels.append(number) }
    }

    // MARK: Time

    mutating func refreshGateTimer(_ group: Int32) {
        let state = groups[Int(group)]
        var times = [state.gate.deadline, state.cutWaitsAt]
        if case .open(let from, let urgentFrom) = state.gate.state {
            times += [urgentFrom, from].filter { $0 > now }
        }
        gateTimers.set(group, to: times.compactMap(\.self).min())
    }

    /// What a gate's timer stands for: it settled, its time came, or waits are to be cut.
    ///
    /// - Parameter portion: How many requests may be touched.
    mutating func gateDue(_ group: Int32, portion: inout Int) {
        let index = Int(group)
        if case .opened(let outage) = groups[index].gate.advance(to: now, policy, using: &random) {
            groupOpened(group, after: outage, isNew: false)
        }
        if groups[index].gate.isOpen { relink(group) }
        if let time = groups[index].cutWaitsAt, time <= now {
            while portion > 0, let slot = groups[index].networkWaits.pop() {
                portion -= 1
                entries[Int(slot)].notBefore = now
                entries[Int(slot)].place = .parked
                place(slot)
            }
            if groups[index].networkWaits.isEmpty { groups[index].cutWaitsAt = nil }
            refreshGroupTimer(group)
        }
        refreshGateTimer(group)
    }
}

extension ConstraintVerdict {
    var missing: Blocker {
        if case .unmet(let missing) = self { missing } else { [] }
    }
}
