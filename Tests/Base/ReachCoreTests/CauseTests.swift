import ReachCore
import Testing

@Suite struct CauseTests {
    private func effect(_ cause: Cause, on interface: InterfaceIndex? = nil) -> NetworkTable.Effect {
        NetworkTable.Effect(cause: cause, interface: interface)
    }

    /// The weightiest cause of a change at equal status.
    private func weightiest(
        of effects: [NetworkTable.Effect], touching interfaces: [InterfaceIndex]
    ) -> Cause? {
        Cause.weightiest(of: effects, touching: interfaces, from: .reachable, to: .reachable)
    }

    @Test func `without effects there is no cause`() {
        #expect(weightiest(of: [], touching: [1, 2]) == nil)
    }

    @Test func `of several causes the weightiest counts, in whatever order they came`() {
        let effects = [effect(.routeRemoved), effect(.linkDown, on: 2), effect(.addressRemoved, on: 2)]
        #expect(weightiest(of: effects, touching: [2]) == .linkDown)
        #expect(weightiest(of: effects.reversed(), touching: [2]) == .linkDown)
    }

    @Test func `an effect on the path's interfaces outweighs effects elsewhere`() {
        let effects = [effect(.linkRemoved, on: 9), effect(.neighbour, on: 2)]
        #expect(weightiest(of: effects, touching: [2]) == .neighbour)
        #expect(weightiest(of: effects, touching: [2, 9]) == .linkRemoved)
        #expect(weightiest(of: effects, touching: []) == .linkRemoved, "a change always has a cause")
    }

    @Test func `an effect on no particular interface affects every path`() {
        #expect(weightiest(of: [effect(.linkRemoved, on: 9), effect(.ruleAdded)], touching: [2]) == .ruleAdded)
        #expect(weightiest(of: [effect(.linkDown, on: 2), effect(.resync)], touching: [2]) == .resync)
    }

    @Test func `what takes a path away does not make a target reachable, nor the other way round`() {
        func cause(_ causes: [Cause], _ before: ReachabilityStatus, _ after: ReachabilityStatus) -> Cause? {
            Cause.weightiest(of: causes.map { effect($0, on: 2) }, touching: [2], from: before, to: after)
        }
        let flap: [Cause] = [.routeAdded, .routeRemoved, .routeAdded]
        #expect(cause(flap, .notReachable, .reachable) == .routeAdded)
        #expect(cause(flap, .unknown, .reachable) == .routeAdded)
        #expect(cause([.routeRemoved, .routeAdded, .routeRemoved], .reachable, .notReachable) == .routeRemoved)
        #expect(cause([.linkUp, .addressRemoved], .reachable, .notReachable) == .addressRemoved)
        #expect(cause([.carrierLost, .linkRemoved], .notReachable, .reachable) == .linkRemoved, "there is no other")
        #expect(cause([.ruleAdded, .routeAdded], .reachable, .notReachable) == .ruleAdded, "a rule may forbid")
    }

    @Test func `the order of the list decides between any two causes`() {
        for (index, heavier) in Cause.allCases.enumerated() {
            for lighter in Cause.allCases.dropFirst(index + 1) {
                #expect(weightiest(of: [effect(lighter), effect(heavier)], touching: []) == heavier)
            }
        }
    }

    @Test func `the words on which scripts rely`() {
        #expect(
            Cause.allCases.map(\.rawValue) == [
                "start", "resync", "wake", "cannot-observe", "link-removed", "link-down", "carrier-lost", "link-up",
                "carrier-gained", "link-added", "address-removed", "address-added", "address-changed",
                "nexthop-removed", "nexthop-added", "rule-removed", "rule-added", "route-removed", "route-replaced",
                "route-added", "neighbour", "roam", "network", "link-changed", "setting", "router", "name", "probe",
                "hold-elapsed",
                "configuration", "poll",
            ])
        #expect(
            Reason.allCases.map(\.rawValue) == [
                "no-route", "blackhole", "unreachable", "prohibited", "no-carrier", "dormant", "link-down",
                "no-interface", "no-address", "gateway-unreachable", "neighbour-unreachable", "name-not-resolved",
                "not-asked", "cannot-observe",
            ])
        #expect(ReachabilityStatus.allCases.map(\.rawValue) == ["unknown", "not-reachable", "reachable"])
        #expect(Connectivity.allCases.map(\.rawValue) == ["unknown", "none", "portal", "limited", "full"])
        #expect(
            LinkClass.allCases.map(\.rawValue) == [
                "wired", "wifi", "wwan", "bluetooth", "tunnel", "virtual", "loopback", "other",
            ])
        #expect(
            ReachabilityChange.Aspect.allCases.map(\.rawValue) == [
                "status", "path", "class", "connectivity", "metered", "portal", "quality",
            ])
    }
}
