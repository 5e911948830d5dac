import ReachCore
import ReachTesting
import Testing

@Suite struct NetworkConditionTests {
    private static let every =
        try! [
            "reachable", "not-reachable", "internet", "unmetered", "interface=eth0", "interface=a=b",
            "network=office", "not network=hotspot", "network=net-0123456789abcdef, not network=b, not network=a",
            "quality=good", "wifi, quality=lossy", "quality=slow",
        ].map { try NetworkCondition($0) } + LinkClass.allCases.map { try NetworkCondition($0.rawValue) }

    @Test(arguments: every)
    func `every condition is read back from its description`(condition: NetworkCondition) throws {
        #expect(try NetworkCondition(condition.description) == condition)
    }

    @Test(arguments: [
        "", "Reachable", "class", "class=", "class=lan", "class=WIFI", "interface", "interface=",
        "interface=a/b", "interface=a b", "metered", "=", "=wifi", "quality", "quality=", "quality=bad",
        "unmetered=yes", "unknown",
    ])
    func `a text that is not a condition is refused`(text: String) {
        #expect(throws: NetworkConditionError.self) { try NetworkCondition(text) }
    }

    @Test func `the grammar for messages names every class`() {
        for linkClass in LinkClass.allCases { #expect(NetworkCondition.grammar.contains(linkClass.rawValue)) }
    }

    @Test(arguments: [
        ("any", "any"), ("wifi", "wifi"), ("class=wifi", "wifi"), ("not wwan", "not wwan"), ("not  wwan", "not wwan"),
        ("unmetered,wifi", "wifi, unmetered"), ("internet", "validated"), ("validated", "validated"),
        ("reachable", "reachable"), ("not-reachable", "not-reachable"), ("interface=eth0", "interface=eth0"),
        ("family=6", "family=6"), ("network=office", "network=office"),
        ("unmetered,not  network=b,not network=a", "unmetered, not network=a, not network=b"),
        (
            "family=4, reachable, validated, unmetered, not wwan, not bluetooth, any",
            "not bluetooth, not wwan, unmetered, validated, reachable, family=4"
        ),
    ])
    func `a condition is read, and written in one form`(text: String, written: String) throws {
        let condition = try NetworkCondition(text)
        #expect(condition.description == written)
        #expect(try NetworkCondition(written) == condition)
    }

    @Test(arguments: [
        ("", "'' is not a condition; there are"), ("wlan", "'wlan' is not a condition; did you mean 'wifi'?"),
        ("unmeterd", "did you mean 'unmetered'?"), ("not wfi", "did you mean 'not wifi'?"),
        ("tomorrow", "condition; there"),
        ("wifi, wired", "'wired' is a second class"),
        ("wifi,,any", "'' is not a condition"), ("wifi, not wifi", "both asks for a class and excludes it"),
        ("family=5", "'family=5' is not a condition"), ("family=4,family=6", "'family=6' is a second family"),
        ("interface=a/b", "'a/b' cannot be an interface name"), ("interface=a, interface=b", "is a second interface"),
        ("network=", "'network=' names no network"), ("network=a b", "'network=a b' names no network"),
        ("netwrk=", "did you mean 'network='?"), ("not network=a/b", "names no network"),
        ("network=a, network=b", "'network=b' is a second network"),
        ("network=a, not network=a", "both asks for a network and excludes it"),
        ("not-reachable, network=a", "asks for a path and for none"),
        ("not-reachable, wifi", "asks for a path and for none"), ("qualty=good", "did you mean 'quality=good'?"),
        ("quality=good, quality=slow", "'quality=slow' is a second quality"), ("Wifi", "'Wifi' is not a condition"),
    ])
    func `a mistake names the term at fault`(text: String, message: String) {
        #expect {
            try NetworkCondition(text)
        } throws: { error in
            (error as? NetworkConditionError)?.description.contains(message) ?? false
        }
    }

    @Test(arguments: 0..<20)
    func `random conditions are read as they were written`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var condition = NetworkCondition.any
            if random.oneIn(2) { condition.linkClass = random.pick(LinkClass.allCases) }
            condition.excludedClasses = Set(LinkClass.allCases.filter { _ in random.oneIn(4) })
            if let wanted = condition.linkClass { condition.excludedClasses.remove(wanted) }
            condition.isUnmetered = random.oneIn(2)
            condition.isValidated = random.oneIn(2)
            condition.isTargetReachable = random.oneIn(2)
            condition.interface = random.oneIn(2) ? "eth\(random.pick([0, 1]))" : nil
            condition.family = random.pick([nil, .ipv4, .ipv6])
            condition.quality = random.pick([nil] + LineQuality.Word.allCases)
            #expect(try NetworkCondition(condition.description) == condition)
        }
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

    @Test func `an alternative name of the path's link means the link`() throws {
        var state = wifi
        state.ipv4.traits.alternativeNames = ["wlp2s0", "a-name-of-more-than-15-bytes"]
        for (name, holds) in [
            ("wlan0", true), ("wlp2s0", true), ("a-name-of-more-than-15-bytes", true), ("wg0", true), ("eth0", false),
        ] {
            #expect(try NetworkCondition("interface=\(name)").holds(in: state) == holds)
        }
        // What is said of the path names the link itself.
        #expect(try NetworkCondition("interface=wlp2s0").interface(in: state) == "wlan0")
    }

    private static func some(_ texts: String...) -> [NetworkCondition] { texts.map { try! NetworkCondition($0) } }

    /// The conditions of `every`, and two more, that hold.
    private func holding(in state: ReachabilityState) -> Set<NetworkCondition> {
        Set((Self.every + Self.some("interface=wlan0", "interface=wg0")).filter { $0.holds(in: state) })
    }

    @Test func `a reachable state fulfils the conditions on status, class and interfaces in both families`() {
        #expect(
            holding(in: wifi)
                == Set(Self.some("reachable", "unmetered", "wifi", "interface=wlan0", "interface=wg0") + Self.elsewhere)
        )
    }

    @Test func `a metered path is not unmetered`() {
        var metered = wifi
        metered.isMetered = true
        #expect(
            holding(in: metered)
                == Set(Self.some("reachable", "wifi", "interface=wlan0", "interface=wg0") + Self.elsewhere))
    }

    /// What a path in a network that is not known satisfies.
    private static let elsewhere = some(
        "not network=hotspot", "not network=a, not network=b, network=net-0123456789abcdef"
    ).dropLast()

    @Test func `a network counts in the family in which it works, and one that is not known is none of those excluded`()
    {
        var office = wifi
        (office.ipv4.network, office.ipv6.network) = ("office", "net-0123456789abcdef")
        for (text, holds) in [
            ("network=office", true), ("network=home", false), ("not network=office", true), ("not network=home", true),
            ("network=office, family=6", false), ("network=net-0123456789abcdef", true),
            ("not network=office, not network=net-0123456789abcdef", false), ("network=office, wifi, unmetered", true),
        ] { #expect(Self.some(text)[0].holds(in: office) == holds, "\(text)") }
        #expect(Self.some("not network=office")[0].holds(in: wifi))
        #expect(!Self.some("network=office")[0].holds(in: wifi))
        #expect(office.network == "office")
        office.ipv4.status = .notReachable
        #expect(office.network == "net-0123456789abcdef" && !Self.some("network=office")[0].holds(in: office))
        office.status = .notReachable
        #expect(office.network == nil)
    }

    @Test func `an interface counts in the family in which it works`() {
        var half = wifi
        half.ipv6.status = .notReachable
        #expect(!Self.some("interface=wg0")[0].holds(in: half))
        #expect(Self.some("interface=wlan0")[0].holds(in: half))
    }

    @Test func `the condition internet requires full connectivity`() {
        for connectivity in Connectivity.allCases {
            var proved = wifi
            proved.connectivity = connectivity
            #expect(Self.some("internet")[0].holds(in: proved) == (connectivity == .full))
        }
    }

    @Test(arguments: [
        ("wifi, unmetered", true), ("class=wifi", true), ("not wwan", true), ("not wifi", false),
        ("wifi, family=6", true),
        ("interface=wlan0, family=4", true), ("interface=wlan0, family=6", false), ("any", true), ("validated", false),
    ])
    func `all terms must hold for one path`(text: String, holds: Bool) throws {
        #expect(try NetworkCondition(text).holds(in: wifi) == holds)
    }

    @Test(arguments: [("wwan", true), ("tunnel", true), ("not wwan", false), ("not wifi", true), ("wifi", false)])
    func `the class of what carries a tunnel counts in a state`(text: String, holds: Bool) throws {
        let tunnel = state {
            $0.status = .reachable
            $0.linkClass = .tunnel
            $0.ipv4 = NetworkPath(status: .reachable)
            $0.ipv4.linkClass = .tunnel
            $0.ipv4.carrierClass = .wwan
        }
        #expect(try NetworkCondition(text).holds(in: tunnel) == holds)
    }

    @Test func `a link would do for what carries it, too`() throws {
        func link(_ name: String, _ linkClass: LinkClass, lower: [String] = []) -> LinkReport {
            LinkReport(
                Link(index: 3, name: name), linkClass: linkClass, controller: nil, lower: lower, trouble: .linkDown,
                brokenLower: nil, isMetered: linkClass == .wwan, addresses: [], carriesInternet: [])
        }
        let links = [
            link("wg0", .tunnel, lower: ["wwan0"]), link("wwan0", .wwan), link("wg1", .tunnel, lower: ["eth0"]),
        ]
        let allowed = try ["not wwan", "wwan", "tunnel", "unmetered", "interface=wg1", "validated"].map { text in
            let condition = try NetworkCondition(text)
            return links.filter { condition.wouldAllow($0, among: links) }.map(\.link.name)
        }
        #expect(
            allowed == [
                ["wg1"], ["wg0", "wwan0"], ["wg0", "wg1"], ["wg0", "wg1"], ["wg1"], ["wg0", "wwan0", "wg1"],
            ])
    }

    @Test func `not-reachable holds only if it is known`() {
        #expect(holding(in: state { $0.status = .notReachable }) == Set(Self.some("not-reachable")))
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
