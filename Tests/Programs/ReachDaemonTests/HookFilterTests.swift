import ReachCore
import ReachDaemon
import Testing

@Suite struct HookFilterTests {
    private let moment = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: BootTime(nanoseconds: 0))

    private func state(_ network: String?, _ target: Target = .internet) -> ReachabilityState {
        var state = ReachabilityState(target: target, since: moment.wall)
        state.status = network == nil ? .notReachable : .reachable
        state.ipv4.status = state.status
        state.ipv4.network = network
        return state
    }

    private func change(_ old: ReachabilityState?, _ new: ReachabilityState) -> ReachabilityChange {
        ReachabilityChange(at: moment, cause: .network, aspects: [.path], previous: old, state: new)
    }

    @Test func `hooks are run for changes into a network, within it and out of it`() throws {
        var filter = HookFilter(try NetworkCondition("network=office"))
        #expect(filter.wants(change(nil, state("office"))) == false, "the initial state")
        for (old, new, isWanted) in [
            ("office", "office", true), (nil, "office", true), ("office", nil, true), ("office", "home", true),
            ("home", "cafe", false), (nil, "home", false), ("home", nil, false),
        ] as [(String?, String?, Bool)] {
            let change = change(state(old), state(new))
            #expect(filter.wants(change) == isWanted, "\(old ?? "none") to \(new ?? "none")")
            #expect(filter.wantsOthers == ((new ?? old) == "office"), "what was lost concerns the path that was lost")
        }
    }

    @Test func `what goes down while no network is known belongs to the last one`() throws {
        var filter = HookFilter(try NetworkCondition("network=office"))
        var unknown = state("office")
        unknown.ipv4.network = nil
        _ = filter.wants(change(nil, state("office")))
        _ = filter.wants(change(state("office"), unknown))
        #expect(filter.wants(change(unknown, state(nil))) == true, "the same path, whose gateway was read again")
        #expect(filter.wantsOthers, "a probe that is down because its network is gone")
        #expect(filter.wants(change(state(nil), unknown)) == false)
        #expect(!filter.wantsOthers, "another network, or the same: no one knows")
        unknown.ipv4.interface = "eth1"
        _ = filter.wants(change(state(nil), unknown))
        #expect(filter.wants(change(unknown, state(nil))) == false, "another path, whose network was never known")
        #expect(!filter.wantsOthers)
    }

    @Test func `other events follow the Internet, also from its initial state, and no other target`() throws {
        var filter = HookFilter(try NetworkCondition("network=office"))
        #expect(!filter.wantsOthers, "nothing is known yet")
        _ = filter.wants(change(nil, state("office")))
        #expect(filter.wantsOthers)
        let host = try Target("192.0.2.1")
        #expect(filter.wants(change(state("office", host), state("home", host))) == true)
        #expect(filter.wantsOthers)
    }

    @Test func `without a condition hooks are run for every change but the initial state`() {
        var filter = HookFilter(.any)
        #expect(filter.wants(change(nil, state("office"))) == false)
        #expect(filter.wants(change(state("a"), state(nil))) == true && filter.wantsOthers)
    }
}
