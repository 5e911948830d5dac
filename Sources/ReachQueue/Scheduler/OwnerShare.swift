internal import ReachCore

/// What one user has of the slots for attempts, and whose turn it is among that user's own requests: a priority of one
/// user means nothing to the requests of another.
struct OwnerShare: Sendable {
    var running = 0
    /// The number of the last start.
    var lastStart: UInt64 = 0
    /// Since when a request of this user could start but for slots that others have beyond their shares.
    var starvedSince: BootTime?
    var credits = [Int](repeating: 0, count: RequestPriority.allCases.count)
    var lastWasFresh = [Bool](repeating: false, count: RequestPriority.allCases.count)
    var lastWasRetry = [Bool](repeating: true, count: RequestPriority.allCases.count)

    /// Whether its turn is before another's: who has fewer slots gets the next one, which is how shares become
    /// max-min fair; of two who have as many, the one who waited longer.
    func precedes(_ other: OwnerShare) -> Bool { (running, lastStart) < (other.running, other.lastStart) }
}
