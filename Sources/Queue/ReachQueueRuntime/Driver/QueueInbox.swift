internal import ReachCore
internal import ReachQueue

/// Inputs that wait for the scheduler, in their order, and whether it is deciding or will.
struct QueueInbox {
    private var inputs: [QueueInput] = []
    /// Whether the scheduler decides: what comes now follows in the same turn.
    private(set) var isBusy = false
    private var isPostponed = false
    /// The number of attempts whose ends wait for the scheduler.
    private var endCount = 0

    private static let fewAttempts = 16

    var count: Int { inputs.count }

    mutating func append(_ input: QueueInput) { inputs.append(input) }

    /// Whether half of few attempts have ended since the scheduler decided, with this one. It must not wait for the
    /// rest, since the servers would have nothing to do meanwhile.
    mutating func endsHalf(of runningCount: Int) -> Bool {
        endCount += 1
        return endCount > 1 && runningCount <= Self.fewAttempts && endCount * 2 >= runningCount
    }

    /// Whether the end of the loop's turn has to be waited for; `false` if it is already.
    mutating func postpones() -> Bool {
        defer { isPostponed = true }
        return !isPostponed
    }

    /// The end of the loop's turn has come.
    mutating func turnEnded() { isPostponed = false }

    /// Whether the scheduler has something to decide, and is not deciding. It then has to take all by ``next()``.
    mutating func begins() -> Bool {
        guard !isBusy, !inputs.isEmpty else { return false }
        isBusy = true
        return true
    }

    /// What has come since; `nil` ends the scheduler's turn.
    mutating func next() -> [QueueInput]? {
        defer { (inputs, endCount) = ([], 0) }
        isBusy = !inputs.isEmpty
        return isBusy ? inputs : nil
    }
}

/// When the thread of the store is woken for what it has to write: when the loop has nothing else to do, since what
/// ends until then is written together, and the thread does not take the processor from the loop. But not more than
/// half of what runs waits for that.
struct StoreWaking {
    enum Time { case now, beforeSleep }

    private var hasWork = false
    private var isAwaited = false
    /// The attempts that have ended since it was woken.
    private var endCount = 0

    mutating func noteWork() { hasWork = true }

    mutating func noteEnd() { endCount += 1 }

    /// - Returns: `nil` where there is nothing to write, or it will be woken anyway.
    mutating func next(ofRunning runningCount: Int) -> Time? {
        guard hasWork else { return nil }
        hasWork = false
        if endCount * 2 >= runningCount {
            endCount = 0
            return .now
        }
        defer { isAwaited = true }
        return isAwaited ? nil : .beforeSleep
    }

    /// The time before the loop's sleep has come.
    mutating func hasWoken() { (isAwaited, endCount) = (false, 0) }
}
