import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// reach-events(7) describes every word of the queue.
@Suite struct QueueManualTests {
    @Test func `every event, reason and blocker is in the manual`() {
        let words = ManualPage("reach-events.7").arguments(of: "Cm")
        let used =
            QueueEvent.Kind.allCases.map(\.rawValue) + DeathReason.allCases.map(\.rawValue)
            + [CancelReason.byUser, .superseded].map(\.rawValue)
            + Blocker(rawValue: .max).words
            + ["degraded", "recovered", "storage-reset", "network", "destination", "interface", "clock"]
        #expect(Set(used).subtracting(words) == [])
    }
}
