import ReachCore
import ReachQueue
import Testing

/// Which paths satisfy a condition, and what the others lack.
@Suite struct ConditionVerdictTests {
    /// As ranked by the kernel: `wwan0` is its own choice, the others are in other tables or less preferred.
    private static let ranked: [QueuePath] = [
        QueuePath.wifi, QueuePath.wired, QueuePath.wwan.with { $0.rank = PathRank(ipv4: 0) },
    ]

    private static func choice(
        _ condition: String = "any", _ change: (inout QueuePath) -> Void
    ) throws -> String? {
        let paths = ranked.map { path in path.interface == "wwan0" ? path.with(change) : path }
        return try NetworkCondition(condition).verdict(on: paths).path?.interface
    }

    @Test func `the kernel's own choice is taken, unless it is known not to work or the condition excludes it`() throws
    {
        #expect(try Self.choice { _ in } == "wwan0")
        // That nothing is known of it yet is no reason to leave it.
        #expect(try Self.choice { $0.isValidated = false } == "wwan0")
        #expect(try Self.choice { ($0.isValidated, $0.isDoubted) = (false, true) } == "eth0")
        #expect(try Self.choice { ($0.isValidated, $0.isPassedOver) = (false, true) } == "eth0")
        #expect(try Self.choice("validated") { $0.isValidated = false } == "eth0")
        #expect(try Self.choice("unmetered") { _ in } == "eth0")
        #expect(try Self.choice("wifi") { _ in } == "wlan0")
    }

    @Test func `each family has the kernel's choice of its own, and IPv4's counts where either may be used`() throws {
        let first = QueuePath.wired.with { ($0.rank, $0.families) = (PathRank(ipv4: 0, ipv6: 1), [.ipv4, .ipv6]) }
        let second = QueuePath.wifi.with { ($0.rank, $0.families) = (PathRank(ipv4: 1, ipv6: 0), [.ipv4, .ipv6]) }
        for paths in [[first, second], [second, first]] {
            #expect(NetworkCondition.any.verdict(on: paths) == .met(first))
            #expect(try NetworkCondition("family=4").verdict(on: paths) == .met(first))
            #expect(try NetworkCondition("family=6").verdict(on: paths) == .met(second))
        }
    }

    @Test
    func
        `of paths that the kernel does not choose, the validated come first, then the unmetered, then the kernel's order`()
        throws
    {
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
