import ReachCore
import ReachQueue
import ReachTesting
import Testing

/// What may be asked of the network, and what paths satisfy it.
@Suite struct ConstraintTests {
    @Test(arguments: [
        ("any", "any"), ("wifi", "wifi"), ("class=wifi", "wifi"), ("not wwan", "not wwan"), ("not  wwan", "not wwan"),
        ("unmetered,wifi", "wifi, unmetered"), ("internet", "validated"), ("validated", "validated"),
        ("reachable", "reachable"), ("interface=eth0", "interface=eth0"), ("family=6", "family=6"),
        (
            "family=4, reachable, validated, unmetered, not wwan, not bluetooth, any",
            "not bluetooth, not wwan, unmetered, validated, reachable, family=4"
        ),
    ])
    func `a constraint is read, and written in one way`(text: String, written: String) throws {
        let constraint = try Constraint(text)
        #expect(constraint.description == written)
        #expect(try Constraint(written) == constraint)
    }

    @Test(arguments: [
        ("", "'' is no constraint"), ("wlan", "'wlan' is no constraint"), ("wifi, wired", "'wired' is a second class"),
        ("wifi,,any", "'' is no constraint"), ("wifi, not wifi", "both asks for a class and excludes it"),
        ("family=5", "'family=5' is no constraint"), ("family=4,family=6", "'family=6' is a second family"),
        ("interface=a/b", "'a/b' cannot be an interface name"), ("interface=a, interface=b", "is a second interface"),
        ("not-reachable", "'not-reachable' is no constraint"), ("Wifi", "'Wifi' is no constraint"),
    ])
    func `a mistake names the term at fault`(text: String, message: String) {
        #expect {
            try Constraint(text)
        } throws: { error in
            (error as? RequestValidationError).map { $0.field == .constraint && $0.description.contains(message) }
                ?? false
        }
    }

    @Test(arguments: 0..<20)
    func `random constraints are read as they were written`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var constraint = Constraint.any
            if random.oneIn(2) { constraint.linkClass = random.pick(LinkClass.allCases) }
            constraint.excludedClasses = Set(LinkClass.allCases.filter { _ in random.oneIn(4) })
            if let wanted = constraint.linkClass { constraint.excludedClasses.remove(wanted) }
            constraint.isUnmetered = random.oneIn(2)
            constraint.isValidated = random.oneIn(2)
            constraint.isTargetReachable = random.oneIn(2)
            constraint.interface = random.oneIn(2) ? "eth\(random.pick([0, 1]))" : nil
            constraint.family = random.pick([nil, .ipv4, .ipv6])
            #expect(try Constraint(constraint.description) == constraint)
        }
    }

    @Test func `the preferred path is validated, then unmetered, then of the lowest metric`() throws {
        let plain = QueuePath.wired.with { $0.isValidated = false }
        #expect(Constraint.any.verdict(on: [plain, .wwan]) == .met(.wwan))
        #expect(Constraint.any.verdict(on: [.wwan, .wifi]) == .met(.wifi))
        #expect(Constraint.any.verdict(on: [.wifi, .wired]) == .met(.wired))
    }

    @Test func `what is missing is what the nearest path lacks`() throws {
        #expect(try Constraint("unmetered, validated").verdict(on: [.wwan]) == .unmet(.metered))
        #expect(try Constraint("wifi").verdict(on: []) == .unmet(.linkClass))
        #expect(try Constraint("reachable").verdict(on: []) == .unmet(.target))
        #expect(try Constraint("family=6").verdict(on: [.wired]) == .unmet(.family))
        #expect(Constraint.any.verdict(on: [QueuePath.wired.with { $0.families = [] }]) == .unmet(.family))
        #expect(try Constraint("wifi, validated").verdict(on: [.wired]) == .unmet(.linkClass))
    }

    @Test func `a tunnel is what carries it`() throws {
        let tunnel = QueuePath.path(9, "wg0", .tunnel).with { $0.carrierClass = .wwan }
        #expect(try Constraint("not wwan").verdict(on: [tunnel]).path == nil)
        #expect(try Constraint("wwan").verdict(on: [tunnel]) == .met(tunnel))
        #expect(try Constraint("tunnel").verdict(on: [tunnel]) == .met(tunnel))
        #expect(Constraint.viaWiFi.verdict(on: [.wired]) == .met(.wired))
    }
}
