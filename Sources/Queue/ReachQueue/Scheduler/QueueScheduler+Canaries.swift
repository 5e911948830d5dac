internal import ReachCore

/// Canaries: while nothing proves that a path works, one request of each user goes by it first.
extension QueueScheduler {
    /// How many requests of a user one choice looks at, and how many of one lane.
    private static let choice = (all: 64, ofLane: 8)

    // MARK: Which one goes

    mutating func startCanaries(portion: inout Int) {
        if !crowdedOut.isEmpty { crowdedOut = [:] }
        guard !unproved.isEmpty else { return }
        for group in unproved.sorted() {
            guard case .canary(let times) = groups[Int(group)].gate.state, times.others <= now else { continue }
            let users = lines.users(inGroup: group).sorted {
                (shares[$0.user] ?? OwnerShare()).precedes(shares[$1.user] ?? OwnerShare())
            }
            for (user, section) in users where portion > 0 {
                startCanary(of: user, in: group, section, portion: &portion)
            }
        }
    }

    private mutating func startCanary(
        of user: UInt32, in group: Int32, _ section: Int32, portion: inout Int
    ) {
        let channel = groups[Int(group)].channel
        guard channel >= 0, owners[user]?.heldSince == nil else { return }
        let isFull = running.count >= policy.globalLimit || !hasRoom(channel, for: user)
        // That the user lacks a slot is known from one group; there may be as many groups as requests.
        if isFull, crowdedOut[user] != nil { return }
        guard let (slot, lane) = bestCanary(of: user, in: group, section, portion: &portion) else { return }
        guard !isFull else {
            crowdedOut[user] = channel
            return
        }
        let isSpaced = now < spacedUntil
        if isSpaced, nextStart > now { return note(canaryAt: nextStart) }
        lines.putFirst(slot)
        if needsPreparation(slot) {
            if groups[Int(group)].preparing == 0 { prepareFirst(of: lane, channel) }
            return
        }
        start(lane, channel)
        if isSpaced { nextStart = now + policy.startSpacing }
    }

    private mutating func note(canaryAt time: BootTime) { canaryAt = min(canaryAt ?? time, time) }

    /// The best of the first few: one that may be repeated does no harm if the path swallows it, and a short one shows
    /// soon whether the path works. What may not be repeated goes only if there is nothing else.
    private mutating func bestCanary(
        of user: UInt32, in group: Int32, _ section: Int32, portion: inout Int
    ) -> (slot: Int32, lane: Int32)? {
        var best: (slot: Int32, lane: Int32, rank: Int)?
        var (left, tooLong) = (Self.choice.all, [(Int32, BootTime)]())
        for kind in StartKind.all {
            var next = lines.firstLane(of: section, kind)
            while let lane = next, left > 0, portion > 0, best?.rank != 0 {
                next = lines.lane(after: lane)
                left -= 1
                guard mayTry(lane, portion: &portion) else { continue }
                var candidate: Int32? = lines.firstEntry(of: lane)
                for _ in 0..<Self.choice.ofLane {
                    guard let slot = candidate else { break }
                    candidate = lines.entry(after: slot)
                    if let until = windowWait(slot) {
                        tooLong.append((slot, until))
                        continue
                    }
                    let rank = canaryRank(of: slot)
                    if best.map({ rank < $0.rank }) ?? true { best = (slot, lane, rank) }
                }
            }
        }
        for (slot, until) in tooLong { holdBack(slot, until: until) }
        return best.map { ($0.slot, $0.lane) }
    }

    private func canaryRank(of slot: Int32) -> Int {
        let entry = entries[Int(slot)]
        return (needsPreparation(slot) ? 4 : 0) + (entry.flags.contains(.repeatable) ? 0 : 2)
            + (entry.bytes <= policy.smallBytes ? 0 : 1)
    }

    /// Whether a canary to the lane's destination may start now. A destination that bears no request is taken out of
    /// the line; one that was tried already waits for longer than another.
    private mutating func mayTry(_ number: Int32, portion: inout Int) -> Bool {
        let lane = lines.lanes[Int(number)]
        let group = groups[Int(lane.group)]
        let lastStart = destinations[Int(lane.destination)].lastStart
        if let next = group.gate.canaries[lane.owner]?.next(lastStart: lastStart), next > now {
            note(canaryAt: next)
            return false
        }
        let isRegistered = group.key.interceptor.map(interceptors.contains) ?? true
        let block = block(of: lane.destination, group: lane.group, isRetry: lane.kind.isRetry)
        guard block != nil || !isRegistered else { return true }
        if let until = block?.until { destinationTimers.setNoLater(lane.destination, than: until) }
        portion -= 1
        lines.stall(number)
        return false
    }

    /// How long an urgent request waits since canaries of its user failed; `nil` if it may start.
    func urgentCanaryWait(of user: UInt32, in group: Int32) -> BootTime? {
        let gate = groups[Int(group)].gate
        guard gate.isUnproved, let time = gate.canaries[user]?.urgent, time > now else { return nil }
        return time
    }

    // MARK: What it shows

    /// The groups that a canary of this one speaks for: those of the same path. Of a host's own path it says nothing
    /// about others.
    private func groupsTried(by attempt: RunningAttempt) -> [Int32] {
        let group = groups[Int(entries[Int(attempt.slot)].group)]
        return groups.indices.filter {
            groups[$0].path?.interfaceIndex == attempt.path.interfaceIndex
                && groups[$0].key.destination == group.key.destination
        }.map(Int32.init)
    }

    mutating func canaryStarted(_ attempt: RunningAttempt) {
        let owner = entries[Int(attempt.slot)].owner
        for group in groupsTried(by: attempt) where groups[Int(group)].gate.isUnproved {
            groups[Int(group)].gate.canaryStarted(of: owner, at: now, policy, using: &random)
        }
    }

    mutating func canaryFailed(_ index: Int) {
        guard running[index].isTrial else { return }
        running[index].isTrial = false
        let owner = entries[Int(running[index].slot)].owner
        for group in groupsTried(by: running[index]) {
            groups[Int(group)].gate.canaryFailed(of: owner, at: now, policy, using: &random)
        }
    }

    mutating func canaryWithdrawn(_ attempt: RunningAttempt) {
        let owner = entries[Int(attempt.slot)].owner
        for group in groupsTried(by: attempt) { groups[Int(group)].gate.canaryWithdrawn(of: owner) }
    }

    /// The attempt's destination answered, whatever it said: its path works.
    mutating func answered(_ index: Int) {
        let attempt = running[index]
        guard let host = groups[Int(entries[Int(attempt.slot)].group)].key.destination, !goesByDefault(host) else {
            return proved(attempt.path.interfaceIndex)
        }
        guard !unproved.isEmpty else { return }
        prove(by: attempt.path.interfaceIndex) { $0.key.destination == host }
    }

    /// Something was answered by the path of that interface.
    mutating func proved(_ interface: UInt32) {
        guard paths?[interfaceIndex: interface] != nil else { return }
        provedInterfaces.insert(interface)
        if !unproved.isEmpty { prove(by: interface) { _ in true } }
    }

    private mutating func prove(by interface: UInt32, _ isConcerned: (RequestGroup) -> Bool) {
        let now = now
        for group in unproved.sorted() {
            guard groups[Int(group)].path?.interfaceIndex == interface, isConcerned(groups[Int(group)]) else {
                continue
            }
            changeGate(group) { gate, _ in gate.prove(at: now) }
        }
    }

    func isProved(_ group: Int32) -> Bool {
        groups[Int(group)].path.map { provedInterfaces.contains($0.interfaceIndex) } ?? false
    }

    /// A gate that waits for a canary by that interface.
    func unprovedGate(by interface: UInt32) -> PathGate? {
        unproved.sorted().lazy.map { groups[Int($0)] }.first {
            $0.path?.interfaceIndex == interface && $0.key.destination == nil
        }?.gate
    }
}
