package import ReachCore

/// What a probe has counted so far: the part of its record that outlives the daemon.
package struct ProbeTotals: Hashable, Sendable {
    package var counts = ProbeRecord.Counts()
    package var uptime = ProbeUptime()
    package var latency = LatencyHistogram(.fine)
    /// By ``ProbePhase/place``; `nil` for phases that no attempt reached.
    package var phases: [LatencyHistogram?] = Array(repeating: nil, count: ProbePhase.allCases.count)
    /// The most recent beats, oldest first.
    package var beats: [ProbeReport.Beat] = []

    package init() {}

    /// A probe, as far as its totals belong to it: with another target it starts over.
    package struct Key: Hashable, Sendable {
        package let name: String
        package let target: String

        package init(name: String, target: String) {
            self.name = name
            self.target = target
        }
    }
}

extension LatencyHistogram {
    /// The counts of the buckets that have any, by their places.
    package var filled: [(place: Int, count: UInt32)] {
        counts.enumerated().compactMap { $0.element > 0 ? ($0.offset, $0.element) : nil }
    }

    /// - Returns: `nil` for a place that the bounds do not have.
    package init?(_ bounds: Bounds, filled: [(place: Int, count: UInt32)], sum: Duration) {
        self.init(bounds)
        for (place, count) in filled where !restore(count, at: place) { return nil }
        restore(sum: sum)
    }
}
