/// Schedules the hooks' runs: each hook handles one event at a time, and after a run only the newest event of each
/// target.
package struct HookQueue: Hashable, Sendable {
    /// The most events of requests that wait for a hook, and the most others. Each request is a target of its own, and
    /// users can make many end at once, which must not push out what hooks learn of the network.
    package static let limit = 256

    /// One run of a hook.
    package struct Run: Hashable, Sendable {
        /// The hook's file name.
        package let hook: String
        package fileprivate(set) var event: HookEvent
        /// The number of older events of the target that the hook missed.
        package fileprivate(set) var skipped = 0
        /// The oldest event that the hook missed; `nil` if it missed none, or one of another target.
        package fileprivate(set) var oldestSkipped: HookEvent?

        fileprivate mutating func replaceEvent(by newer: HookEvent) {
            oldestSkipped = skipped == 0 ? event : oldestSkipped
            if oldestSkipped?.target != newer.target { oldestSkipped = nil }
            event = newer
            skipped += 1
        }

        /// The event's variables, and those about what was skipped.
        package var environment: [String: String] {
            var variables = event.environment
            variables["REACH_SKIPPED"] = "\(skipped)"
            let before = skipped == 0 ? event : oldestSkipped
            for word in ["STATUS", "CONNECTIVITY"] {
                variables["REACH_LAST_" + word] = before?.environment["REACH_PREVIOUS_" + word]
            }
            return variables
        }
    }

    /// The waiting runs of each running hook, in the order in which their targets first changed. Beyond the limit the
    /// newest event replaces the last one of its kind: of a request, or of others.
    private var waiting: [String: [Run]] = [:]
    private var isStopped = false

    package init() {}

    package var running: Set<String> { Set(waiting.keys) }

    /// Adds an event for all hooks.
    ///
    /// - Parameter hooks: The current hooks.
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
                queue[place].replaceEvent(by: event)
            } else if queue.count(where: { $0.event.isOfRequest == event.isOfRequest }) >= Self.limit,
                let last = queue.lastIndex(where: { $0.event.isOfRequest == event.isOfRequest })
            {
                queue[last].replaceEvent(by: event)
            } else {
                queue.append(run)
            }
            waiting[hook] = queue
            return nil
        }
    }

    /// Handles the end of a hook's run, or the failure to start it.
    ///
    /// - Returns: The hook's next run, to start now.
    package mutating func finished(_ hook: String) -> Run? {
        guard var queue = waiting[hook], !queue.isEmpty, !isStopped else {
            waiting[hook] = nil
            return nil
        }
        let next = queue.removeFirst()
        waiting[hook] = queue
        return next
    }

    /// Starts no further runs.
    package mutating func stop() { isStopped = true }
}
