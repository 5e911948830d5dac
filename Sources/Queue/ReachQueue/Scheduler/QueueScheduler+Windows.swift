internal import ReachCore

/// Paths that come and go: what is remembered of them, and which requests wait for a longer window.
extension QueueScheduler {
    /// Compares the paths with those before. To be called before ``paths`` changes.
    mutating func notePaths(_ set: PathSet) {
        let (before, now) = (paths?.paths ?? [], now)
        for path in before where set[interfaceIndex: path.interfaceIndex] == nil {
            provedInterfaces.remove(path.interfaceIndex)
            histories[path.interfaceIndex]?.lost(at: now)
        }
        for path in set.paths {
            let old = before.first { $0.interfaceIndex == path.interfaceIndex }
            if old == nil { histories[path.interfaceIndex, default: PathHistory()].gained(at: now, policy) }
            // What was proved of an address on another network says nothing about this one.
            if let old, !old.sources.isEmpty, old.sources.isDisjoint(with: path.sources) {
                provedInterfaces.remove(path.interfaceIndex)
            }
            // A probe proved it meanwhile.
            if let old, !old.isValidated, path.isValidated { provedInterfaces.insert(path.interfaceIndex) }
        }
        guard histories.count > 64 else { return }
        histories = histories.filter { set[interfaceIndex: $0.key] != nil }
    }

    // MARK: Large bodies

    /// When to look again at a request whose body would not be finished before the path goes; `nil` if it may start.
    func windowWait(_ slot: Int32) -> BootTime? {
        let entry = entries[Int(slot)]
        // What can be resumed loses nothing by a window that is too short.
        guard entry.bytes > policy.smallBytes, !entry.flags.contains(.resumable),
            let path = groups[Int(entry.group)].path
        else { return nil }
        return histories[path.interfaceIndex]?.wait(
            for: entry.bytes, waitingSince: heldBack[slot] ?? now, at: now, policy)
    }

    mutating func holdBack(_ slot: Int32, until time: BootTime) {
        if heldBack.updateValue(heldBack[slot] ?? now, forKey: slot) == nil { turn.asked.append(slot) }
        entries[Int(slot)].notBefore = time
        entries[Int(slot)].flags.insert(.awaitsWindow)
        place(slot)
    }

    mutating func noteCarried(_ attempt: RunningAttempt) {
        let entry = entries[Int(attempt.slot)]
        // Of an upload that was resumed, it is not known here how much this attempt sent.
        guard entry.bytes > policy.smallBytes, !entry.flags.contains(.resumable) else { return }
        let time = now - entry.since
        histories[attempt.path.interfaceIndex]?.carried(entry.bytes, in: time)
    }

    /// The server has got further with a resumable upload: earlier attempts were no failures, and are not counted.
    mutating func uploadAdvanced(_ id: RequestID) {
        guard let index = place(of: id), running[index].phase == .sending else { return }
        let slot = Int(running[index].slot)
        let (destination, failures) = (entries[slot].destination, Int(entries[slot].attempts))
        let (time, rules) = (now, policy.budget)
        troubles[destination]?.budget.refund(failures, at: time, rules)
        (entries[slot].attempts, entries[slot].networkFailures, entries[slot].losses) = (0, 0, 0)
        destinationAnswered(destination, by: running[index].path.interface, isSuccess: true)
    }

    // MARK: Cut off

    /// The attempt ends since it lost its path, or what its condition asks for.
    mutating func pathCutOff(_ attempt: RunningAttempt) {
        let entry = entries[Int(attempt.slot)]
        let group = groups[Int(entry.group)]
        let isThere = paths.flatMap { attempt.path(in: pathsInReach(of: group, $0, isBegun: true)) }
        guard isThere == nil, attempt.isSent else { return }
        if entry.bytes > policy.smallBytes, !entry.flags.contains(.resumable) {
            let time = (attempt.lingerUntil ?? now + policy.linger) - entry.since - policy.linger
            histories[attempt.path.interfaceIndex]?.interrupted(entry.bytes, after: time)
        }
        entries[Int(attempt.slot)].notBefore = now
        entries[Int(attempt.slot)].flags.insert(.networkFailure)
        lose(attempt.slot)
    }

    /// The server may have received it: it is sent again no sooner than `curl --retry` would.
    mutating func lose(_ slot: Int32) {
        let index = Int(slot)
        entries[index].losses = UInt8(clamping: Int(entries[index].losses) + 1)
        let time = now + policy.lossWait(after: Int(entries[index].losses))
        entries[index].notBefore = max(entries[index].notBefore, time)
    }
}
