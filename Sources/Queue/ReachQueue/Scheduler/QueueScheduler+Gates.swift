internal import ReachCore

/// Gates: what follows when they open and close, and the interface for which their requests are in line.
extension QueueScheduler {
    /// Changes a group's gate, and does what follows.
    mutating func changeGate(
        _ group: GroupIndex, _ change: (inout PathGate, inout SplitMix64) -> PathGate.Change?
    ) {
        switch gates.change(group, using: &turn.random, change) {
        case .gained:
            gates.resume(group, isNew: true)
            relink(group)
        case .canary(let outage):
            gates.resume(group, isNew: false)
            groupMayStart(group, after: outage)
        case .opened(let outage):
            if gates[group].count > 0 { publishGate(.opened, group) }
            groupMayStart(group, after: outage)
        case .closed(let wasOpen): groupClosed(group, wasOpen: wasOpen)
        case nil: break
        }
        gates.refreshTimer(group, at: now)
    }

    /// The path has settled, so that canaries may start, or it is proved.
    private mutating func groupMayStart(_ group: GroupIndex, after outage: Duration) {
        if let times = gates[group].gate.times { admission.space(after: outage, first: max(now, times.others)) }
        gates.cutWaits(of: group, at: now, inEpoch: epoch)
        relink(group)
        gates.refreshWaitTimer(group)
    }

    private mutating func groupClosed(_ group: GroupIndex, wasOpen: Bool) {
        gates.cutWaits(of: group, at: nil)
        setChannel(of: group, to: nil)
        lines.place(group: group, channel: nil)
        gates.refreshWaitTimer(group)
        if wasOpen, gates[group].count > 0 { publishGate(.closed, group) }
    }

    private mutating func publishGate(_ kind: QueueEvent.Kind, _ group: GroupIndex) {
        var event = event(kind)
        event.condition = gates[group].key.condition
        event.destination = gates[group].key.destination
        if kind == .opened { event.interface = gates[group].path?.interface }
        if kind == .closed { event.blockers = gates[group].gate.missing }
        event.count = gates[group].count
        publish(event)
    }

    /// Puts the group into the lines of its path's interface, if its time has come. While a canary decides, only urgent
    /// requests are there.
    mutating func relink(_ group: GroupIndex) {
        guard let times = gates[group].gate.times, let path = gates[group].path else { return }
        setChannel(of: group, to: path)
        lines.place(
            group: group, channel: gates[group].channel, urgent: times.urgent <= now,
            others: gates[group].gate.isOpen && times.others <= now)
    }

    mutating func setChannel(of group: GroupIndex, to path: QueuePath?) {
        let (old, new) = (gates[group].channel, path.map { attempts.channel(for: $0) })
        guard old != new else { return }
        gates.setChannel(new, of: group)
        // A breaker is for one path to a destination: over another path it may be closed.
        if let destination = gates[group].key.destination {
            resumeLines(to: destination)
        } else {
            for destination in destinations.attentive { lines.resume(destination: destination) }
        }
        attempts.moveGroup(from: old, to: new)
    }

    /// Handles a gate's timer: it has settled, its time has come, or waits are cut.
    ///
    /// - Parameter portion: The number of requests that may be handled.
    mutating func gateDue(_ group: GroupIndex, portion: inout Int) {
        let (now, isProved) = (now, network.isProved(gates[group].path))
        changeGate(group) { gate, _ in gate.advance(to: now, isProved: isProved) }
        if !gates[group].gate.isClosed { relink(group) }
        if let time = gates[group].cutWaitsAt, time <= now { cutDueWaits(of: group, portion: &portion) }
    }

    /// Ends waits after failures of another network; but not those of requests that a server may have received.
    private mutating func cutDueWaits(of group: GroupIndex, portion: inout Int) {
        while portion > 0, let slot = gates.popNetworkWait(in: group) {
            portion -= 1
            let entry = requests[slot]
            let from = entry.losses > 0 ? entry.since + policy.lossWait(after: Int(entry.losses)) : now
            requests[slot].notBefore = min(entry.notBefore, max(from, now))
            if from <= now {
                requests[slot].place = .parked
                place(slot)
            } else {
                // The network no longer ends its wait, so that no later turn finds it here again.
                requests[slot].place = .destinationWait
                gates.wait(slot, in: group, until: requests[slot].notBefore, isOfNetwork: false)
            }
        }
        if gates[group].networkWaits.isEmpty { gates.cutWaits(of: group, at: nil) }
        gates.refreshWaitTimer(group)
    }
}
