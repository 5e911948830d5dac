internal import ReachCore

/// Destinations: what is reported and written of them.
extension QueueScheduler {
    /// What keeps a group's requests from a destination, and until when; without a time, until an attempt ends.
    func block(of destination: DestinationIndex, group: GroupIndex, isRetry: Bool) -> Destinations.Block? {
        destinations.block(
            of: destination, in: gates[group], isRetry: isRetry, isSpaced: admission.isSpaced(at: now), at: now,
            epoch: epoch)
    }

    /// It answered: whatever it said, it is there.
    mutating func destinationAnswered(_ destination: DestinationIndex, by interface: String, isSuccess: Bool) {
        guard destinations.answered(destination, by: interface, isSuccess: isSuccess, at: now) else { return }
        let record = destinations[destination]
        turn.changes.append(.closeBreaker(record.destination, interface: interface, owner: record.owner))
        publishBreaker(.breakerClosed, record, interface)
    }

    /// It failed, on a path that works.
    ///
    /// - Parameter status: The status of its response; 0 without one.
    mutating func destinationFailed(
        _ destination: DestinationIndex, by interface: String, _ failure: AttemptFailure = AttemptFailure(),
        trips: Bool = false
    ) {
        let opened = destinations.failed(
            destination, by: interface, failure, trips: trips, at: now, using: &turn.random)
        guard let opened else { return }
        let record = destinations[destination]
        let stored = StoredBreaker(
            destination: record.destination, interface: interface, owner: record.owner,
            openUntil: moment.at(opened.until), step: opened.step)
        turn.changes.append(.openBreaker(stored))
        publishBreaker(.breakerOpen, record, interface)
    }

    private mutating func publishBreaker(_ kind: QueueEvent.Kind, _ record: DestinationRecord, _ interface: String) {
        var event = event(kind)
        event.destination = record.destination
        event.owner = record.owner
        event.interface = interface
        publish(event)
    }
}
