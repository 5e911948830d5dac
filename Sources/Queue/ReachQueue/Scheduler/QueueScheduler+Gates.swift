internal import ReachCore

/// Gates: what happens when they open and close, and which interface their requests stand in line for.
extension QueueScheduler {
    /// Changes a group's gate, and does what follows.
    mutating func changeGate(
        _ group: Int32, isNew: Bool = false, _ change: (inout PathGate, inout SplitMix64) -> PathGate.Change?
    ) {
        let index = Int(group)
        let wasClosed = groups[index].gate.isClosed
        let change = change(&groups[index].gate, &random)
        let gate = groups[index].gate
        if gate.isClosed != wasClosed { openGroups += wasClosed ? 1 : -1 }
        if gate.isUnproved { unproved.insert(group) } else { unproved.remove(group) }
        switch change {
        case .gained: groupGained(group)
        case .canary(let outage): groupTried(group, after: outage)
        case .opened(let outage): groupOpened(group, after: outage, isNew: isNew)
        case .closed(let wasOpen): groupClosed(group, wasOpen: wasOpen)
        case nil: break
        }
        refreshGateTimer(group)
    }

    /// A path is there: destinations are approached slowly from now on.
    private mutating func groupGained(_ group: Int32) {
        generation += 1
        groups[Int(group)].generation = generation
        relink(group)
    }

    /// The path has settled: canaries may go.
    private mutating func groupTried(_ group: Int32, after outage: Duration) {
        groups[Int(group)].generation = generation
        space(group, after: outage)
        cutWaits(of: group)
        relink(group)
        refreshGroupTimer(group)
    }

    private mutating func groupOpened(_ group: Int32, after outage: Duration, isNew: Bool) {
        let index = Int(group)
        if !isNew, groups[index].count > 0 {
            var event = QueueEvent(.opened, at: moment, epoch: epoch)
            event.condition = groups[index].key.condition
            event.destination = groups[index].key.destination
            event.interface = groups[index].path?.interface
            event.count = groups[index].count
            publish(event)
        }
        space(group, after: outage)
        cutWaits(of: group)
        relink(group)
        refreshGroupTimer(group)
    }

    /// Starts keep their distance for a while. The first look at a network or a host ends no outage.
    private mutating func space(_ group: Int32, after outage: Duration) {
        guard outage > .zero, let times = groups[Int(group)].gate.times else { return }
        spacing.begin(after: outage, first: max(now, times.others), policy)
    }

    private mutating func cutWaits(of group: Int32) {
        guard groups[Int(group)].epoch != epoch else { return }
        groups[Int(group)].epoch = epoch
        groups[Int(group)].cutWaitsAt = now
    }

    private mutating func groupClosed(_ group: Int32, wasOpen: Bool) {
        let index = Int(group)
        groups[index].cutWaitsAt = nil
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil, urgent: false, others: false)
        refreshGroupTimer(group)
        guard wasOpen, groups[index].count > 0 else { return }
        var event = QueueEvent(.closed, at: moment, epoch: epoch)
        event.condition = groups[index].key.condition
        event.destination = groups[index].key.destination
        event.blockers = groups[index].gate.missing
        event.count = groups[index].count
        publish(event)
    }

    /// Puts the group into the lines of its path's interface, as far as its time has come. While a canary decides, only
    /// urgent requests stand there.
    mutating func relink(_ group: Int32) {
        let index = Int(group)
        guard let times = groups[index].gate.times, let path = groups[index].path else { return }
        setChannel(of: group, to: path)
        lines.place(
            group: group, channel: groups[index].channel, urgent: times.urgent <= now,
            others: groups[index].gate.isOpen && times.others <= now)
    }

    mutating func setChannel(of group: Int32, to path: QueuePath?) {
        let index = Int(group)
        let old = groups[index].channel
        let new = path.map { channelNumber($0) } ?? -1
        guard old != new else { return }
        groups[index].channel = new
        // A breaker is for one way to a destination: by another it may be closed.
        if let own = groups[index].key.destination {
            resumeLines(to: own)
        } else {
            for destination in attentive { lines.resume(destination: destination) }
        }
        if new >= 0 { channels[Int(new)].groups += 1 }
        if old >= 0 {
            channels[Int(old)].groups -= 1
            freeChannelIfUnused(old)
        }
    }

    mutating func channelNumber(_ path: QueuePath) -> Int32 {
        let limit = path.traits.isCarried(by: .wwan) ? policy.modemLimit : policy.interfaceLimit
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
        if let start = state.gate.times { times += [start.urgent, start.others].filter { $0 > now } }
        gateTimers.set(group, to: times.compactMap(\.self).min())
    }

    /// What a gate's timer stands for: it settled, its time came, or waits are to be cut.
    ///
    /// - Parameter portion: How many requests may be touched.
    mutating func gateDue(_ group: Int32, portion: inout Int) {
        let (index, now, isProved) = (Int(group), now, isProved(group))
        changeGate(group) { gate, _ in gate.advance(to: now, isProved: isProved) }
        if !groups[index].gate.isClosed { relink(group) }
        if let time = groups[index].cutWaitsAt, time <= now { cutDueWaits(of: group, portion: &portion) }
        refreshGateTimer(group)
    }

    /// Ends waits after failures of another network; but not those of requests that a server may have received.
    private mutating func cutDueWaits(of group: Int32, portion: inout Int) {
        let index = Int(group)
        while portion > 0, let slot = groups[index].networkWaits.pop() {
            portion -= 1
            let entry = entries[Int(slot)]
            let from = entry.losses > 0 ? entry.since + policy.lossWait(after: Int(entry.losses)) : now
            entries[Int(slot)].notBefore = min(entry.notBefore, max(from, now))
            if from <= now {
                entries[Int(slot)].place = .parked
                place(slot)
            } else {
                // The network no longer has a say in its wait, so that no later turn finds it here again.
                entries[Int(slot)].place = .destinationWait
                groups[index].destinationWaits.set(slot, to: entries[Int(slot)].notBefore)
            }
        }
        if groups[index].networkWaits.isEmpty { groups[index].cutWaitsAt = nil }
        refreshGroupTimer(group)
    }
}
