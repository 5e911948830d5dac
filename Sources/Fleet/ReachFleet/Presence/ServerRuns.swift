package import ReachCore

/// From when to when servers ran, as far as their reports show: a server has another name each time that it starts.
package struct ServerRuns: Sendable {
    /// The most that are kept. A cluster that restarts daily for a year has a thousand.
    private static let limit = 4_096
    private var runs: [String: ClosedRange<Timestamp>] = [:]

    package init() {}

    package mutating func note(_ server: String, at time: Timestamp) {
        guard let run = runs[server] else {
            if runs.count < Self.limit { runs[server] = time...time }
            return
        }
        if !run.contains(time) { runs[server] = min(run.lowerBound, time)...max(run.upperBound, time) }
    }

    /// Whether one server was there from one time to the other.
    func cover(_ start: Timestamp, _ end: Timestamp, _ engine: EngineFacts) -> Bool {
        if let started = engine.started, started <= start { return true }
        return runs.values.contains { $0.contains(start) && $0.contains(end) }
    }
}
