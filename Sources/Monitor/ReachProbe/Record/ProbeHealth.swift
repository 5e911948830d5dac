package import ReachCore

/// The state of a probe, which a single stray result does not change.
///
/// A probe goes down after a number of failures in a row, and up after a number of successes in a row
/// (``ProbeSpecification/Thresholds``). The first success of all is enough, since it contradicts nothing. Inconclusive
/// results do not count.
package struct ProbeHealth: Hashable, Sendable {
    package private(set) var state = ProbeReport.State.unknown
    /// Consecutive failures.
    package private(set) var failures = 0
    private var successes = 0
    private let thresholds: ProbeSpecification.Thresholds

    package init(_ thresholds: ProbeSpecification.Thresholds = .init()) { self.thresholds = thresholds }

    /// Whether the failures suffice for "down", which was held back.
    package var isHeldUp: Bool { state != .down && failures >= thresholds.down }

    /// Goes down by the failures so far, if they suffice.
    ///
    /// - Returns: Whether the state changed.
    package mutating func release() -> Bool {
        guard isHeldUp else { return false }
        state = .down
        return true
    }

    /// Forgets the failures, since something else than the target explains them.
    package mutating func forgive() { failures = 0 }

    /// Counts an outcome.
    ///
    /// - Parameter holdsUp: Whether failures do not take it down yet, since the path may be their reason.
    /// - Returns: Whether the state changed.
    package mutating func add(_ outcome: ProbeResult.Outcome, holdsUp: Bool = false) -> Bool {
        let before = state
        switch outcome {
        case .ok:
            failures = 0
            successes += 1
            if state == .unknown || successes >= thresholds.up { state = .up }
        case .fail:
            successes = 0
            failures += 1
            if failures >= thresholds.down, !holdsUp { state = .down }
        case .inconclusive: break
        }
        return state != before
    }
}

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
