internal import ReachCore

/// Gates: what happens when they open and close, and which interface their requests stand in line for.
extension QueueScheduler {
    mutating func groupOpened(_ group: Int32, after outage: Duration, isNew: Bool) {
        let index = Int(group)
        openGroups += 1
        if !isNew, groups[index].count > 0 {
            var event = QueueEvent(.opened, at: moment, epoch: epoch)
            event.condition = groups[index].key.condition
            event.destination = groups[index].key.destination
            event.interface = groups[index].path?.interface
            event.count = groups[index].count
            publish(event)
        }
        // The first look at a network or a host ends no outage: nothing has to be approached slowly.
        if outage > .zero, case .open(let from, _) = groups[index].gate.state {
            generation += 1
            groups[index].generation = generation
            spacedUntil = max(spacedUntil, from + policy.spacingWindow(after: outage))
        }
        if groups[index].epoch != epoch {
            groups[index].epoch = epoch
            groups[index].cutWaitsAt = now
        }
        relink(group)
        refreshGroupTimer(group)
    }

    mutating func groupClosed(_ group: Int32) {
        let index = Int(group)
        openGroups -= 1
        groups[index].cutWaitsAt = nil
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil, urgent: false, others: false)
        refreshGroupTimer(group)
        guard groups[index].count > 0 else { return }
        var event = QueueEvent(.closed, at: moment, epoch: epoch)
        event.condition = groups[index].key.condition
        event.destination = groups[index].key.destination
        event.blockers = groups[index].gate.missing
        event.count = groups[index].count
        publish(event)
    }

    /// Puts the group into the lines of its path's interface, as far as its time has come.
    mutating func relink(_ group: Int32) {
        let index = Int(group)
        guard case .open(let from, let urgentFrom) = groups[index].gate.state, let path = groups[index].path else {
            return
        }
        setChannel(of: group, to: path)
        let channel = groups[index].channel
        lines.place(group: group, channel: channel, urgent: urgentFrom <= now, others: from <= now)
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
