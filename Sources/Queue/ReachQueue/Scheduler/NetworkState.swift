internal import ReachCore

/// What is known of the network: its paths, what was proved of them, and how long each stays up.
///
/// Invariants: an interface is proved only while it has a path, and with the address by which it was proved; the
/// histories of interfaces without a path are kept while there are few.
struct NetworkState: Sendable {
    private static let historyLimit = 64

    var fixed: FixedPolicy
    private let started: BootTime
    /// `nil` until the network is known.
    private(set) var paths: PathSet?
    /// The time at which ``paths`` last changed; `nil` before the first change.
    private(set) var changed: BootTime?
    /// Whether the network was unknown for so long that this counts as an outage.
    private(set) var hasGivenUpWaiting = false
    /// The interfaces over which something was answered since they have a path.
    private var proved: Set<UInt32> = []
    private var histories: [UInt32: PathHistory] = [:]
    /// The requests that wait for a path that stays up longer, and since when.
    private var heldBack: [Slot: BootTime] = [:]
    var evidence = PathEvidence()
    /// Where no checks prove paths.
    private var silent = SilentPaths()
    /// When a path that is passed over is the first one again; `nil` while none is passed over.
    private(set) var silenceEnds: BootTime?

    init(_ fixed: FixedPolicy, at now: BootTime) {
        self.fixed = fixed
        started = now
    }

    private var policy: QueuePolicy { fixed.policy }

    var epoch: UInt64 { paths?.epoch ?? 0 }

    /// Whether packets can leave this machine.
    var hasLinks: Bool { paths?.links.isEmpty == false }

    // MARK: Paths

    /// - Returns: Whether the epoch is another one, and whether this is another network, in which names are looked up
    ///   again.
    mutating func update(_ set: PathSet, at now: BootTime) -> (isNewEpoch: Bool, isNewNetwork: Bool) {
        let isFirst = paths == nil
        let isNewEpoch = set.epoch != epoch || isFirst
        let isNewNetwork = isNewEpoch || set.links != paths?.links
        if set.paths != paths?.paths || isNewEpoch { changed = isFirst && !hasGivenUpWaiting ? nil : now }
        compare(set, at: now)
        paths = set
        if isNewEpoch {
            evidence.forgetAnswers()
            silent.forget()
            silenceEnds = nil
        }
        return (isNewEpoch, isNewNetwork)
    }

    private mutating func compare(_ set: PathSet, at now: BootTime) {
        let before = paths?.paths ?? []
        for path in before where set[interfaceIndex: path.interfaceIndex] == nil {
            proved.remove(path.interfaceIndex)
            histories[path.interfaceIndex]?.lost(at: now)
        }
        for path in set.paths {
            guard let old = before.first(where: { $0.interfaceIndex == path.interfaceIndex }) else {
                histories[path.interfaceIndex, default: PathHistory()].gained(at: now, policy)
                continue
            }
            // What was proved of an address in another network says nothing about this one.
            if !old.sources.isEmpty, old.sources.isDisjoint(with: path.sources) { proved.remove(path.interfaceIndex) }
            // A probe proved it meanwhile.
            if !old.isValidated, path.isValidated { proved.insert(path.interfaceIndex) }
        }
        guard histories.count > Self.historyLimit else { return }
        histories = histories.filter { set[interfaceIndex: $0.key] != nil }
    }

    /// The time at which an unknown network counts as an outage; `nil` if it is known, or counts already.
    var firstLookEnds: BootTime? { paths == nil && !hasGivenUpWaiting ? started + policy.paths.firstLook : nil }

    mutating func giveUpWaiting() { hasGivenUpWaiting = true }

    /// - Returns: Whether the interface has a path.
    mutating func prove(_ interface: UInt32) -> Bool {
        guard paths?[interfaceIndex: interface] != nil else { return false }
        proved.insert(interface)
        return true
    }

    func isProved(_ path: QueuePath?) -> Bool { path.map { proved.contains($0.interfaceIndex) } ?? false }

    // MARK: Silence

    /// The ways to the Internet, with what their silence says about them.
    func offered(at now: BootTime) -> [QueuePath] {
        guard !silent.isEmpty else { return paths?.paths ?? [] }
        return (paths?.paths ?? []).map { path in
            var path = path
            path.isPassedOver = silent.passesOver(path.interfaceIndex, at: now)
            path.isUncertain = true
            return path
        }
    }

    /// Notes that a destination did not answer by a way to the Internet. It says nothing where checks have proved or
    /// refuted that way, or where there is no other one: past a tunnel nothing is sent.
    ///
    /// - Returns: Whether another way may be preferred from now on.
    mutating func note(silenceOf destination: Destination, by path: QueuePath, at now: BootTime) -> Bool {
        guard let paths, paths.paths.count > 1, paths.tunnels.isEmpty,
            let present = paths[interfaceIndex: path.interfaceIndex], !present.isValidated, !present.isDoubted,
            silent.note(silenceOf: destination, by: path.interfaceIndex, at: now)
        else { return false }
        proved.remove(path.interfaceIndex)
        silenceEnds = silent.deadline(after: now)
        return true
    }

    /// Notes that a destination answered by a way to the Internet.
    ///
    /// - Returns: Whether another way may be preferred from now on.
    mutating func note(answerOf destination: Destination, by path: QueuePath, at now: BootTime) -> Bool {
        guard paths?.paths.count ?? 0 > 1, silent.note(answerOf: destination, by: path.interfaceIndex, at: now) else {
            return false
        }
        silenceEnds = silent.deadline(after: now)
        return true
    }

    /// - Returns: Whether a path that was passed over is the first one again.
    mutating func endSilence(at now: BootTime) -> Bool {
        guard let silenceEnds, silenceEnds <= now else { return false }
        self.silenceEnds = silent.deadline(after: now)
        return true
    }

    // MARK: Large bodies

    func history(of path: QueuePath) -> PathHistory? { histories[path.interfaceIndex] }

    /// Whether a request's body is too large to be lost without harm when the path goes. A resumable upload loses
    /// nothing.
    private func isLarge(_ entry: QueueEntry) -> Bool {
        entry.bytes > policy.canaries.smallBytes && !entry.flags.contains(.resumable)
    }

    /// The time at which a request is looked at again whose body would not be finished before the path goes; `nil` if
    /// it may start.
    func windowWait(_ slot: Slot, _ entry: QueueEntry, by path: QueuePath?, at now: BootTime) -> BootTime? {
        guard isLarge(entry), let path else { return nil }
        return histories[path.interfaceIndex]?.wait(
            for: entry.bytes, waitingSince: heldBack[slot] ?? now, at: now, policy)
    }

    /// - Returns: Whether it was not held back before.
    mutating func holdBack(_ slot: Slot, at now: BootTime) -> Bool {
        heldBack.updateValue(heldBack[slot] ?? now, forKey: slot) == nil
    }

    mutating func endHoldingBack(_ slot: Slot) { heldBack[slot] = nil }

    mutating func carried(_ entry: QueueEntry, by path: QueuePath, at now: BootTime) {
        // It is not known how much of a resumed upload this attempt sent.
        if isLarge(entry) { histories[path.interfaceIndex]?.carried(entry.bytes, in: now - entry.since) }
    }

    /// - Parameter time: When the path was lost.
    mutating func interrupted(_ entry: QueueEntry, by path: QueuePath, at time: BootTime) {
        if isLarge(entry) { histories[path.interfaceIndex]?.interrupted(entry.bytes, after: time - entry.since) }
    }
}
