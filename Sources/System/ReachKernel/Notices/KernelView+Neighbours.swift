package import ReachCore
internal import ReachLoop

/// What the kernel knows of the neighbours on which paths depend, as far as it proves something.
extension KernelView {
    /// Makes sure that the state of a neighbour is known.
    ///
    /// - Returns: The time of the next check, if the kernel is still waiting for the neighbour's answer.
    package func ensureNeighbour(_ key: Neighbour.Key) throws(NetlinkError) -> BootTime? {
        let now = SystemClock.boot
        let isNew = table.neighbours[key] == nil
        if isNew { try queryNeighbour(key) }
        guard table.neighbours[key] == .incomplete else {
            unansweredUntil[key] = nil
            return nil
        }
        let known = unansweredUntil[key]
        let deadline = if let known { known } else { try deadline(of: key, isNew: isNew, at: now) }
        unansweredUntil[key] = deadline
        guard now >= deadline else { return deadline }
        try queryNeighbour(key)
        if table.neighbours[key] == .incomplete { table.setNeighbour(key, to: .failed) }
        return nil
    }

    /// When a neighbour counts as failed that the kernel is asking.
    ///
    /// - Parameter isNew: Whether the kernel may have begun before this process looked.
    private func deadline(
        of key: Neighbour.Key, isNew: Bool, at now: BootTime
    ) throws(NetlinkError) -> BootTime {
        let family = key.address.family
        guard isNew else {
            let times = try queries.neighbourTimes(of: key.interface)[family] ?? NeighbourTimes()
            return now + times.patience
        }
        let (dating, age) = try dating(key.interface)
        let times = dating.times(family)
        guard let ages = try queries.neighbourAges(key) else { return now + times.patience }
        // One that is asked again has failed before.
        let hasFailed =
            ages.isAskedAgain(times) && !dating.mayHaveFailedBeforeCarrier(ages.before(age), family)
        return hasFailed ? now : now + (times.patience - ages.updated)
    }

    /// Takes over from an observer that a neighbour has failed, if the kernel is only asking it again: until it
    /// answers, that is no news.
    func keepFailed(_ key: Neighbour.Key) throws(NetlinkError) {
        if table.neighbours[key] == nil { try queryNeighbour(key) }
        if table.neighbours[key] == .incomplete { table.setNeighbour(key, to: .failed) }
    }

    /// Queries the current state of a neighbour.
    ///
    /// - Returns: Whether it differs from the known state.
    @discardableResult
    package func queryNeighbour(_ key: Neighbour.Key) throws(NetlinkError) -> Bool {
        let before = table.neighbours[key]
        let entry = try queries.neighbourEntry(key)
        let state = try validState(of: entry, key)
        table.setNeighbour(key, to: state)
        if let entry { noteHardwareAddress(in: entry) }
        return state != before
    }

    /// An entry that failed while the link could not be used says nothing: the kernel keeps it until something is sent.
    func validState(of entry: Neighbour?, _ key: Neighbour.Key) throws(NetlinkError) -> NeighbourState {
        let state = entry?.state ?? NeighbourState.none
        guard state == .failed, let ages = try queries.neighbourAges(key) else { return state }
        // An observer knows when the link could be used again.
        if let since = usableSince[key.interface] {
            return ages.updated > SystemClock.boot - since ? NeighbourState.none : state
        }
        let (dating, age) = try dating(key.interface)
        return dating.isFromBeforeCarrier(ages.before(age), key.address.family) ? NeighbourState.none : state
    }

    /// What dates the failures of a link's neighbours, and its age. One serves for a second, since thousands may have
    /// failed.
    private func dating(_ index: InterfaceIndex) throws(NetlinkError) -> (NeighbourDating, age: Duration) {
        let now = SystemClock.boot
        if let known = datings[index], now - known.at < Self.datingLifetime { return (known.dating, now - known.at) }
        let dating = NeighbourDating(
            among: try queries.neighbours(of: index), carrierGains: try queries.carrierGains(index),
            times: try queries.neighbourTimes(of: index))
        datings[index] = (dating, now)
        return (dating, .zero)
    }

    private static let datingLifetime = Duration.seconds(1)

    /// Forgets all neighbours except these.
    package func keepNeighbours(_ keys: Set<Neighbour.Key>) {
        unansweredUntil = unansweredUntil.filter { keys.contains($0.key) }
        table.keepNeighbours(keys)
    }
}
