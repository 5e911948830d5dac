import ReachCore
import ReachQueue
import Testing

@testable import ReachQueueRuntime

/// The queue's path to one host.
@Suite struct TargetPathTests {
    @Test(arguments: [
        ("reachable, not wwan", Blocker.linkClass), ("reachable, wwan", Blocker()), ("reachable, tunnel", Blocker()),
    ])
    func `the class of what carries a tunnel counts on the path to a host`(text: String, missing: Blocker) throws {
        var state = ReachabilityState(
            target: try Target("host.example"), since: Timestamp(nanosecondsSince1970: 0))
        state.status = .reachable
        state.ipv4 = NetworkPath(status: .reachable)
        state.ipv4.interface = "wg0"
        state.ipv4.interfaceIndex = 7
        state.ipv4.linkClass = .tunnel
        state.ipv4.carrierClass = .wwan
        let path = try #require(QueuePath(to: state, [:]))
        let verdict = try NetworkCondition(text).verdict(on: [path])
        #expect(verdict == (missing.isEmpty ? .met(path) : .unmet(missing)))
    }
}
