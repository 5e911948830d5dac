import ReachCore
import Testing

/// Changes of several targets that differ in nothing but the target, which are encoded once.
@Suite struct SharedChangeTests {
    private static func change(
        _ target: String, at seconds: Int64 = 1, wall: Int64 = 1, cause: Cause = .routeAdded,
        after previous: ReachabilityStatus? = .notReachable
    ) throws -> ReachabilityChange {
        let target = try Target(target)
        func state(_ status: ReachabilityStatus) -> ReachabilityState {
            var state = ReachabilityState(target: target, since: Timestamp(nanosecondsSince1970: 0))
            state.status = status
            return state
        }
        return ReachabilityChange(
            at: Instant(
                wall: Timestamp(nanosecondsSince1970: wall), boot: BootTime(nanoseconds: seconds * 1_000_000_000)),
            cause: cause, aspects: [.status], previous: previous.map(state), state: state(.reachable))
    }

    @Test func `changes of two targets are the same but for the target`() throws {
        let change = try Self.change("192.0.2.1")
        #expect(try change.differsOnlyInTarget(from: Self.change("192.0.2.2")))
        #expect(try !change.differsOnlyInTarget(from: Self.change("192.0.2.2", at: 2)))
        #expect(try !change.differsOnlyInTarget(from: Self.change("192.0.2.2", wall: 2)))
        #expect(try !change.differsOnlyInTarget(from: Self.change("192.0.2.2", cause: .routeReplaced)))
        #expect(try !change.differsOnlyInTarget(from: Self.change("192.0.2.2", after: .unknown)))
    }

    @Test func `the first change of a target is like no other`() throws {
        let first = try Self.change("192.0.2.1", after: nil)
        #expect(try !first.differsOnlyInTarget(from: Self.change("192.0.2.2", after: nil)))
        #expect(try !first.differsOnlyInTarget(from: Self.change("192.0.2.2")))
        #expect(try !Self.change("192.0.2.1").differsOnlyInTarget(from: Self.change("192.0.2.2", after: nil)))
    }
}
