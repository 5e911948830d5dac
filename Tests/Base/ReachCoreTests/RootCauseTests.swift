import ReachTesting
import Testing

@testable import ReachCore

@Suite struct RootCauseTests {
    @Test(arguments: RootCauseSituation.all)
    func `the root cause is the lowest thing that is broken`(_ situation: RootCauseSituation) {
        let found = situation.rootCause.map {
            [$0.kind.rawValue, $0.interface].compactMap(\.self).joined(separator: " ")
        }
        #expect(found == situation.expected)
    }

    @Test func `every kind of root cause has a situation`() {
        let tested = Set(RootCauseSituation.all.compactMap(\.rootCause?.kind))
        #expect(Set(RootCause.Kind.allCases).subtracting(tested) == [])
        #expect(RootCauseSituation.all.count >= 40)
    }

    @Test func `what is reachable or unknown has no root cause`() {
        for verdict in [Verdict.eth0, Verdict(.unknown, reason: .cannotObserve), Verdict(.unknown, reason: nil)] {
            #expect(RootCauseSituation("", "") { $0.verdict = verdict }.rootCause == nil)
        }
    }

    @Test func `the memory keeps the links of the last paths that worked`() {
        var memory = PathMemory()
        let lost = NetworkPath(status: .notReachable, reason: .noRoute)
        memory.remember(.reachable(by: "eth0", 2), .reachable(by: "wlan0", 3))
        #expect(memory.carriers.map(\.name) == ["eth0", "wlan0"])
        memory.remember(lost, .reachable(by: "wlan0", 3))
        memory.remember(lost, lost)
        #expect(memory.carriers.map(\.name) == ["wlan0"])
        var own = NetworkPath.reachable(by: "lo", 1)
        own.linkClass = .loopback
        memory.remember(own, .notAsked)
        #expect(memory.carriers.map(\.name) == ["wlan0"], "packets to this machine leave by no link")
    }

    @Test(
        arguments: [
            ("no-default-route", [.ipv4], [.ipv4], ["192.0.2.2"]),
            ("no-default-route", [.ipv6], [.ipv6], ["2001:db8::2"]),
            ("no-default-route", [.ipv4, .ipv6], [.ipv4, .ipv6], ["192.0.2.2", "2001:db8::2"]),
            // Both lost something, and the address is the lower of the two.
            ("no-address", [.ipv4, .ipv6], [.ipv4, .ipv6], ["2001:db8::2"]),
            ("no-address", [.ipv4], [.ipv4, .ipv6], []),
        ] as [(String, [IPAddress.Family], [IPAddress.Family], [String])])
    func `who hears what broke of which link remembers it in the families with which that follows`(
        word: String, families: [IPAddress.Family], remembered: [IPAddress.Family], addresses: [String]
    ) throws {
        let situation = RootCauseSituation("", "") { situation in
            situation.addresses = addresses.map { RouteFixtures.address($0, on: 2) }
            situation.before = [("eth0", 2, [])]
            situation.families = families
        }
        let cause = try #require(situation.rootCause)
        #expect(cause.kind.rawValue == word)
        let memory = PathMemory(of: cause, on: 2) { memory in
            var other = situation
            other.families = memory.carriers.map(\.family)
            return other.rootCause
        }
        #expect(memory.carriers.map(\.family) == remembered)
        #expect(memory.carriers.allSatisfy { $0.name == "eth0" && $0.index == 2 })
    }

    @Test func `an access point that lets a link in is not one that refuses it`() {
        let link = Link.up(2, "wlan0")
        var counter = AdmissionCounter()
        for _ in 0..<2 { counter.observe(link.withoutCarrier, after: link.handshaking) }
        #expect(counter.isRefused(2))
        counter.observe(link.handshaking, after: link.withoutCarrier)
        #expect(counter.isRefused(2), "the next attempt has not ended")
        counter.observe(link, after: link.handshaking)
        #expect(!counter.isRefused(2))
        for _ in 0..<2 { counter.observe(link.withoutCarrier, after: link) }
        #expect(!counter.isRefused(2), "the access point went away")
        for _ in 0..<2 { counter.observe(link.takenDown, after: link.handshaking) }
        #expect(!counter.isRefused(2), "the link was taken down")
    }

    @Test func `another root cause is a change of the path`() {
        var (before, after) = (Verdict.lost, Verdict.lost)
        before.rootCause = RootCause(.noCarrier, interface: "eth0")
        after.rootCause = RootCause(.noAddress, interface: "eth0")
        var machine = StatusMachine.begun(with: before)
        #expect(machine.see(before, at: 1) == nil)
        #expect(machine.see(after, at: 2)?.aspects == [.path])
        #expect(machine.state.rootCause == after.rootCause)
        #expect(machine.see(.eth0, at: 3)?.state.rootCause == nil)
    }

    @Test func `sentences name the interface, without control characters`() {
        for kind in RootCause.Kind.allCases {
            let sentence = RootCause(kind, interface: "et\u{1b}h0").sentence
            #expect(!sentence.isEmpty && !sentence.contains("\u{1b}"))
        }
        #expect(RootCause(.noCarrier, interface: "eth0").sentence == "eth0 has no carrier")
    }

    @Test func `each word is of one kind, and a kind that a reason names has the reason's word and layer`() {
        let kinds = RootCause.Kind.allCases
        #expect(Set(kinds.map(\.rawValue)).count == kinds.count)
        for kind in kinds { #expect(RootCause.Kind(rawValue: kind.rawValue) == kind) }
        for reason in Reason.allCases {
            guard let kind = RootCause.Kind(rawValue: reason.rawValue) else { continue }
            #expect(kind.layer == reason.layer)
        }
        let others: [Reason] = [.noRoute, .dormant, .notAsked, .cannotObserve]
        #expect(others.allSatisfy { RootCause.Kind(rawValue: $0.rawValue) == nil }, "something else is their cause")
        #expect(RootCause(.blackhole).sentence == Reason.blackhole.sentence)
        #expect(!RootCause(.noInterface, interface: "eth9").isBelowRoutes && RootCause(.linkDown).isBelowRoutes)
    }

    // MARK: - Rules

    private func refusing(
        _ rules: [Rule], because reason: Reason = .prohibited, mark: UInt32? = nil, user: UInt32? = nil,
        routes: [Route] = []
    ) -> UInt32? {
        let standard = [(0, 255), (32766, 254), (32767, 253)].map { RouteFixtures.rule($0, table: $1) }
        let all = (standard + rules).sorted { $0.priority < $1.priority }
        return Rule.refusing(RouteFixtures.anchor, because: reason, among: all, mark: mark, user: user) { type in
            routes.filter { $0.type == type }
        }?.priority
    }

    @Test func `a rule is the cause unless a route before it refuses`() {
        let prohibit = RouteFixtures.rule(90, .prohibit)
        #expect(refusing([prohibit]) == 90)
        #expect(refusing([prohibit], because: .blackhole) == nil)
        #expect(refusing([]) == nil)
        let marked = RouteFixtures.rule(90, .prohibit) { ($0.mark, $0.markMask) = (7, 0xff) }
        #expect(refusing([marked]) == nil)
        #expect(refusing([marked], mark: 7) == 90)
        #expect(refusing([RouteFixtures.rule(95, .unreachable)], because: .noRoute) == 95)
        let early = RouteFixtures.rule(50, table: 100)
        let route = RouteFixtures.defaultRoute(.ipv4, .prohibit, table: 100)
        #expect(refusing([early, prohibit], routes: [route]) == nil)
        #expect(refusing([prohibit], routes: [route]) == 90, "no rule leads to that table")
    }

    @Test func `a rule for some users is the cause for them, and one that may match where nothing else can be`() {
        let students = RouteFixtures.rule(90, .unreachable) { $0.users = 2_000...2_999 }
        #expect(refusing([students], because: .noRoute, user: 2_500) == 90)
        #expect(refusing([students], because: .noRoute, user: 3_000) == nil)
        #expect(refusing([students], because: .noRoute) == nil, "that there is no route may have another cause")
        let others = RouteFixtures.rule(90, .unreachable) { ($0.users, $0.isInverted) = (2_000...2_999, true) }
        #expect(refusing([others], because: .noRoute, user: 3_000) == 90)
        let port = RouteFixtures.rule(90, .prohibit) { $0.hasOtherSelectors = true }
        #expect(refusing([port]) == 90, "only a rule or a route gives that error")
        #expect(refusing([port], routes: [RouteFixtures.defaultRoute(.ipv4, .prohibit)]) == nil)
    }

    @Test func `a throw route or a rule that ignores the default route hides it, unless another rule leads there`() {
        func hindrance(_ rules: [Rule], _ routes: [Route]) -> String? {
            let found = Rule.hindrance(to: RouteFixtures.anchor, among: rules, mark: nil) { type in
                routes.filter { $0.type == type }
            }
            switch found {
            case .thrown(let route)?: return "thrown \(route.table)"
            case .ignored(let route, let rule)?: return "ignored \(route.table) by \(rule.priority)"
            case nil: return nil
            }
        }
        let main = RouteFixtures.rule(32766)
        let ignoring = RouteFixtures.rule(100) { $0.suppressedPrefixLength = 0 }
        let (usable, thrown) = (
            RouteFixtures.defaultRoute(.ipv4, .unicast), RouteFixtures.defaultRoute(.ipv4, .throw)
        )
        #expect(hindrance([main], []) == nil && hindrance([main], [usable]) == nil)
        #expect(hindrance([main], [thrown]) == "thrown 254")
        let (alone, apart) = (
            RouteFixtures.defaultRoute(.ipv4, .throw, table: 100), RouteFixtures.rule(80, table: 100)
        )
        #expect(hindrance([apart, main], [alone]) == nil, "it hides nothing")
        let hidden = RouteFixtures.defaultRoute(.ipv4, .unicast, table: 100)
        #expect(hindrance([apart, main], [alone, hidden]) == "thrown 100")
        #expect(hindrance([ignoring], [usable]) == "ignored 254 by 100")
        #expect(hindrance([ignoring, main], [usable]) == nil && hindrance([ignoring], []) == nil)
        #expect(hindrance([ignoring], [RouteFixtures.defaultRoute(.ipv4, .throw, table: 100)]) == nil)
        #expect(hindrance([RouteFixtures.rule(50, .unreachable), main], [thrown]) == nil, "the rule refuses first")
    }
}
