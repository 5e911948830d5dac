internal import ReachCore

/// What one user has of the slots for attempts, and whose turn it is among that user's own requests: a priority of one
/// user means nothing to the requests of another.
struct OwnerShare: Sendable {
    var running = 0
    /// The number of the last start.
    var lastStart: UInt64 = 0
    /// Since when a request of this user could start but for slots that others have beyond their shares.
    var starvedSince: BootTime?
    // One for each priority, in place: a share is copied for each start.
    var credits: InlineArray<4, Int> = InlineArray(repeating: 0)
    var lastWasFresh: InlineArray<4, Bool> = InlineArray(repeating: false)
    var lastWasRetry: InlineArray<4, Bool> = InlineArray(repeating: true)

    /// Whether its turn is before another's: who has fewer slots gets the next one, which is how shares become
    /// max-min fair; of two who have as many, the one who waited longer.
    func precedes(_ other: OwnerShare) -> Bool { (running, lastStart) < (other.running, other.lastStart) }
}

/// Slots among users. While there are enough, each takes what it needs. When they run short, the next one goes to whoever
/// has the fewest; and whoever still gets none because others keep theirs is given one of those: no user has to wait
/// for the end of what another's server drags out.
extension QueueScheduler {
    /// Whether the channel has a slot for the user.
    ///
    /// After somebody had to wait, the last slot stays free for a while for those who have less: each of a row of short
    /// requests would wait otherwise.
    func hasRoom(_ channel: Int32, for user: UInt32) -> Bool {
        let channelLimit = channels[Int(channel)].limit
        guard channels[Int(channel)].running < channelLimit else { return false }
        guard now < sharedUntil else { return true }
        if running.count + 1 >= policy.globalLimit, (shares[user]?.running ?? 0) * 2 >= policy.globalLimit {
            return false
        }
        guard channels[Int(channel)].running + 1 >= channelLimit, channelLimit > 1 else { return true }
        return running.count { $0.channel == channel && owner(of: $0) == user } * 2 < channelLimit
    }

    private func owner(of attempt: RunningAttempt) -> UInt32 { entries[Int(attempt.slot)].owner }

    /// The attempt that makes room now for a user who waited long enough, by its place in ``running``.
    ///
    /// - Parameter portion: How many lanes may be taken out of line.
    mutating func attemptThatYields(portion: inout Int) -> Int? {
        // Mostly there is one user.
        guard !running.isEmpty, shares.count > 1 || lines.users.contains(where: { shares[$0] == nil }) else {
            return nil
        }
        let users = Set(shares.keys).union(lines.users)
        guard users.count > 1 else { return nil }
        var due: (index: Int, at: BootTime)?
        for user in users {
            guard let scope = fullScope(for: user, portion: &portion) else {
                shares[user]?.starvedSince = nil
                continue
            }
            let since = shares[user]?.starvedSince ?? now
            shares[user, default: OwnerShare()].starvedSince = since
            guard let next = nextToYield(to: user, waitingSince: since, in: scope) else { continue }
            if due.map({ next.at < $0.at }) ?? true { due = next }
        }
        guard let due else { return nil }
        if due.at <= now { return due.index }
        yieldAt = due.at
        return nil
    }

    /// Where the user could start something but for a slot: a channel, or any where all of the queue's are taken.
    private mutating func fullScope(for user: UInt32, portion: inout Int) -> FullScope? {
        if let channel = crowdedOut[user] {
            return channels[Int(channel)].running >= channels[Int(channel)].limit ? .channel(channel) : .all
        }
        let isFull = running.count >= policy.globalLimit
        for channel in channels.indices.map(Int32.init) {
            let isChannelFull = channels[Int(channel)].running >= channels[Int(channel)].limit
            guard isFull || isChannelFull else { continue }
            for kind in StartKind.all where lines.hasCandidates(of: user, channel: channel, kind: kind) {
                guard startableLane(of: user, channel, kind, portion: &portion) != nil else { continue }
                return isChannelFull ? .channel(channel) : .all
            }
        }
        return nil
    }

    private enum FullScope {
        case channel(Int32)
        case all

        func contains(_ attempt: RunningAttempt) -> Bool {
            if case .channel(let channel) = self { attempt.channel == channel } else { true }
        }
    }

    /// An attempt of a user who has at least two slots more, so that afterwards shares differ less; of the one who has
    /// most, the least urgent, and of those the youngest, which loses least. A user without any slot gets in the end
    /// also the only one of another.
    private func nextToYield(
        to user: UInt32, waitingSince since: BootTime, in scope: FullScope
    ) -> (index: Int, at: BootTime)? {
        var counts: [UInt32: Int] = [:]
        for attempt in running where scope.contains(attempt) { counts[owner(of: attempt), default: 0] += 1 }
        let own = counts[user] ?? 0
        var best: (index: Int, at: BootTime, rank: (Int, UInt8, Int64))?
        for (index, attempt) in running.enumerated() where scope.contains(attempt) && mayYield(attempt) {
            let entry = entries[Int(attempt.slot)]
            let count = counts[entry.owner] ?? 0
            guard entry.owner != user, count >= own + 2 || own == 0 else { continue }
            let grace = since + policy.shareGrace
            let time = count >= own + 2 ? grace : max(grace, entry.since + policy.shareSlice)
            let rank = (count, entry.priority.rawValue, entry.since.nanoseconds)
            if let best, best.at < time || (best.at == time && best.rank >= rank) { continue }
            best = (index, time, rank)
        }
        return best.map { ($0.index, $0.at) }
    }

    /// It is being sent, and may be sent again.
    private func mayYield(_ attempt: RunningAttempt) -> Bool {
        guard attempt.phase == .sending, attempt.lingerUntil == nil else { return false }
        return RequestTransition.outcome(of: .failedUncounted, in: .running, facts(attempt)) == .derived
    }

    /// Ends it for another user's request. It counts as no failure, and goes to the end of its line.
    mutating func yield(_ index: Int) {
        let attempt = remove(index)
        let slot = attempt.slot
        entries[Int(slot)].place = .parked
        entries[Int(slot)].startClass = .backlog
        turn.actions.append(.abort(attempt.id))
        var event = event(.interrupted, slot, reason: "share")
        event.interface = attempt.path.interface
        publish(event)
        place(slot)
        turn.changes.append(.update(progress(slot)))
        sharedUntil = now + policy.shareMemory
    }
}
