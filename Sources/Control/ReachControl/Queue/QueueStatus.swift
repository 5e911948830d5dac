package import ReachQueue

/// A user's queue as a whole; for root, that of all users.
package struct QueueStatus: Hashable, Sendable {
    /// The number of unfinished requests.
    package var count: Int
    package var holds: [QueueHold]
    /// The budgets for metered links, and what is left of them.
    package var budgets: [MeteredReport]

    package init(count: Int = 0, holds: [QueueHold] = [], budgets: [MeteredReport] = []) {
        self.count = count
        self.holds = holds
        self.budgets = budgets
    }
}
