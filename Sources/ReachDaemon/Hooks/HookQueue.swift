/// Decides what each hook is told next: one event at a time, and when it was busy, only the newest of each target.
package struct HookQueue: Hashable, Sendable {
    /// One run of a hook.
    package struct Run: Hashable, Sendable {
        /// The hook's file name.
        package let hook: String
        package fileprivate(set) var event: HookEvent
        /// So many older events of the target it was not told.
        package fileprivate(set) var skipped = 0
    }

    /// What waits for the hooks that are running, by the order in which their targets first changed.
    private var waiting: [String: [Run]] = [:]
    private var isStopped = false

    package init() {}

    package var running: Set<String> { Set(waiting.keys) }

    /// - Parameter hooks: Those there are at this moment.
    /// - Returns: The runs to start now.
    package mutating func add(_ event: HookEvent, for hooks: [String]) -> [Run] {
        guard !isStopped else { return [] }
        return hooks.compactMap { hook in
            let run = Run(hook: hook, event: event)
            guard var queue = waiting[hook] else {
                waiting[hook] = []
                return run
            }
            if let place = queue.firstIndex(where: { $0.event.target == event.target }) {
                queue[place].event = event
                queue[place].skipped += 1
            } else {
                queue.append(run)
            }
            waiting[hook] = queue
            return nil
        }
    }

    /// The hook's run is over, or could not be started.
    ///
    /// - Returns: Its next run, to be started now.
    package mutating func finished(_ hook: String) -> Run? {
        guard var queue = waiting[hook], !queue.isEmpty, !isStopped else {
            waiting[hook] = nil
            return nil
        }
        let next = queue.removeFirst()
        waiting[hook] = queue
        return next
    }

    /// Nothing is started from now on.
    package mutating func stop() { isStopped = true }
}
