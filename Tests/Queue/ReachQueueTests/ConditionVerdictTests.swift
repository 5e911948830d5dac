import ReachCore
import ReachQueue
import Testing

/// Which paths satisfy a condition, and what the others lack.
@Suite struct ConditionVerdictTests {
    @Test func `the preferred path is validated, then unmetered, then of the lowest metric`() throws {
        let plain = QueuePath.wired.with { $0.isValidated = false }
        #expect(NetworkCondition.any.verdict(on: [plain, .wwan]) == .met(.wwan))
        #expect(NetworkCondition.any.verdict(on: [.wwan, .wifi]) == .met(.wifi))
        #expect(NetworkCondition.any.verdict(on: [.wifi, .wired]) == .met(.wired))
    }

    @Test func `what is missing is what the nearest path lacks`() throws {
        #expect(try NetworkCondition("unmetered, validated").verdict(on: [.wwan]) == .unmet(.metered))
        for text in ["any", "wifi", "not wwan", "interface=eth0", "unmetered", "validated", "family=6"] {
            #expect(try NetworkCondition(text).verdict(on: []) == .unmet(.path))
        }
        #expect(try NetworkCondition("reachable").verdict(on: []) == .unmet(.target))
        #expect(try NetworkCondition("family=6").verdict(on: [.wired]) == .unmet(.family))
        #expect(NetworkCondition.any.verdict(on: [QueuePath.wired.with { $0.families = [] }]) == .unmet(.family))
        #expect(try NetworkCondition("wifi, validated").verdict(on: [.wired]) == .unmet(.linkClass))
    }

    @Test func `a tunnel is what carries it`() throws {
        let tunnel = QueuePath.path(9, "wg0", .tunnel).with { $0.carrierClass = .wwan }
        #expect(try NetworkCondition("not wwan").verdict(on: [tunnel]).path == nil)
        #expect(try NetworkCondition("wwan").verdict(on: [tunnel]) == .met(tunnel))
        #expect(try NetworkCondition("tunnel").verdict(on: [tunnel]) == .met(tunnel))
        #expect(try NetworkCondition("not wwan").verdict(on: [.wired]) == .met(.wired))
    }
}
