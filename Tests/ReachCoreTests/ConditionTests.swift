import ReachCore
import Testing

@Suite struct ConditionTests {
    private static let every: [Condition] =
        [.reachable, .notReachable, .internet, .unmetered, .interface("eth0"), .interface("a=b")]
        + LinkClass.allCases.map { .linkClass($0) }

    @Test(arguments: every)
    func `every condition is read back from its description`(condition: Condition) {
        #expect(Condition(condition.description) == condition)
    }

    @Test(arguments: [
        "", "Reachable", "reachable ", "class", "class=", "class=lan", "class=WIFI", "interface", "interface=",
        "interface=a/b", "interface=a b", "metered", "=", "=wifi", "unmetered=yes", "unknown",
    ])
    func `anything else is no condition`(text: String) {
        #expect(Condition(text) == nil)
    }

    @Test func `the grammar for messages names every class`() {
        for linkClass in LinkClass.allCases { #expect(Condition.grammar.contains(linkClass.rawValue)) }
    }

    private func state(_ change: (inout ReachabilityState) -> Void) -> ReachabilityState {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        change(&state)
        return state
    }

    private var wifi: ReachabilityState {
        state {
            $0.status = .reachable
            $0.linkClass = .wifi
            $0.interface = "wlan0"
            $0.ipv4 = NetworkPath(status: .reachable)
            $0.ipv4.interface = "wlan0"
            $0.ipv6 = NetworkPath(status: .reachable)
            $0.ipv6.interface = "wg0"
        }
    }

    /// The conditions of `every`, and two more, that hold.
    private func holding(in state: ReachabilityState) -> Set<Condition> {
        Set((Self.every + [.interface("wlan0"), .interface("wg0")]).filter { $0.holds(in: state) })
    }

    @Test func `a reachable state fulfils the conditions on status, class and interfaces in both families`() {
        #expect(
            holding(in: wifi) == [.reachable, .unmetered, .linkClass(.wifi), .interface("wlan0"), .interface("wg0")])
    }

    @Test func `a metered path is not unmetered`() {
        var metered = wifi
        metered.isMetered = true
        #expect(holding(in: metered) == [.reachable, .linkClass(.wifi), .interface("wlan0"), .interface("wg0")])
    }

    @Test func `an interface counts in the family in which it works`() {
        var half = wifi
        half.ipv6.status = .notReachable
        #expect(!Condition.interface("wg0").holds(in: half))
        #expect(Condition.interface("wlan0").holds(in: half))
    }

    @Test func `the condition internet requires full connectivity`() {
        for connectivity in Connectivity.allCases {
            var proved = wifi
            proved.connectivity = connectivity
            #expect(Condition.internet.holds(in: proved) == (connectivity == .full))
        }
    }

    @Test func `not-reachable holds only if it is known`() {
        #expect(holding(in: state { $0.status = .notReachable }) == [.notReachable])
        #expect(holding(in: state { $0.status = .unknown }) == [])
    }

    @Test func `a stale state fulfils nothing`() {
        var stale = wifi
        stale.connectivity = .full
        stale.isStale = true
        #expect(holding(in: stale) == [])
        #expect(
            holding(
                in: state {
                    $0.status = .notReachable; $0.isStale = true
                }) == [])
    }
}
