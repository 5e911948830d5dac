internal import ReachCore

/// Whether the queue's file is open, and what waits to know. A file that cannot be opened is tried again after a while.
struct QueueOpening {
    /// How long after a failure it is tried again.
    var retryInterval: Duration = .seconds(10)
    /// `nil` once the file was opened, or could not be.
    private var waiting: [() -> Void]? = []
    private var failed: (at: BootTime, reason: String)?

    /// Why the queue could not be opened; `nil` if it could.
    var failure: String? { failed?.reason }

    func isDueAgain(at now: BootTime) -> Bool { failed.map { now - $0.at >= retryInterval } ?? false }

    /// - Returns: Whether the work waits. Otherwise it can be done now.
    mutating func keeps(_ work: @escaping () -> Void) -> Bool {
        waiting?.append(work)
        return waiting != nil
    }

    /// - Returns: What has waited.
    mutating func succeed() -> [() -> Void] {
        failed = nil
        return end()
    }

    /// - Returns: What has waited, and whether it is the first failure in succession.
    mutating func fail(_ reason: String, at now: BootTime) -> (waited: [() -> Void], isFirst: Bool) {
        let isFirst = failed == nil
        failed = (now, reason)
        return (end(), isFirst)
    }

    private mutating func end() -> [() -> Void] {
        defer { waiting = nil }
        return waiting ?? []
    }
}
