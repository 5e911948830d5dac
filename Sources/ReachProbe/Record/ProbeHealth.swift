package import ReachCore

/// Turns results into a state that a single one does not upset.
///
/// Down after so many failures in a row, up after so many successes; the very first success is enough, since there is nothing
/// that it contradicts. What is inconclusive counts for nothing.
package struct ProbeHealth: Hashable, Sendable {
    package private(set) var state = ProbeReport.State.unknown
    /// In a row.
    package private(set) var failures = 0
    private var successes = 0
    private let thresholds: ProbeSpecification.Thresholds

    package init(_ thresholds: ProbeSpecification.Thresholds = .init()) { self.thresholds = thresholds }

    /// - Returns: Whether the state is another one now.
    package mutating func take(_ outcome: ProbeResult.Outcome) -> Bool {
        let before = state
        switch outcome {
        case .ok:
            failures = 0
            successes += 1
            if state == .unknown || successes >= thresholds.up { state = .up }
        case .fail:
            successes = 0
            failures += 1
            if failures >= thresholds.down { state = .down }
        case .inconclusive: break
        }
        return state != before
    }
}
