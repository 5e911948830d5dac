import ReachCore
import ReachTesting
import Testing

@Suite struct LinkPolicyTests {
    let policy = LinkPolicy(rules: [
        LinkPolicy.Rule(pattern: Glob("eth1"), linkClass: .wwan),
        LinkPolicy.Rule(pattern: Glob("eth*"), isMetered: false),
        LinkPolicy.Rule(pattern: Glob("hotspot"), isMetered: true),
        LinkPolicy.Rule(pattern: Glob("*"), linkClass: nil, isMetered: nil),
    ])

    @Test func `without rules only modems are metered, and each link keeps its detected class`() {
        let stack = LinkStack(.up(1, "eth1"), .up(2, "wwan0"))
        #expect([1, 2].map { stack.class(of: $0) } == [.wired, .wwan])
        #expect([1, 2].map { stack.isMetered($0) } == [false, true])
    }

    @Test func `the first matching rule that sets a property decides`() {
        #expect(policy.first(\.linkClass, for: "eth1") == .wwan)
        #expect(policy.first(\.linkClass, for: "eth2") == nil)
        #expect(policy.first(\.isMetered, for: "eth1") == false, "the second rule sets it, the first does not")
    }

    @Test func `alternative names count`() {
        #expect(policy.first(\.isMetered, for: "wlan0", ["home", "hotspot"]) == true)
        #expect(policy.first(\.linkClass, for: "enx001122334455", ["eth1"]) == .wwan)
    }

    @Test func `links stacked on a link share the class and metering that a rule gives it`() {
        let stack = LinkStack(
            .up(1, "eth1"), .up(2, "eth1.5", kind: "vlan", on: 1), .up(3, "wg0", kind: "wireguard"),
            policy: LinkPolicy(rules: [LinkPolicy.Rule(pattern: Glob("eth1"), linkClass: .wwan)]), underlay: [3: 2])
        #expect([1, 2, 3].map { stack.class(of: $0) } == [.wwan, .wwan, .tunnel])
        #expect([1, 2, 3].map { stack.isMetered($0) } == [true, true, true])
    }

    @Test func `a rule for the upper link outweighs one for the lower`() {
        let stack = LinkStack(
            .up(1, "wwan0"), .up(2, "wg0", kind: "wireguard"),
            policy: LinkPolicy(rules: [LinkPolicy.Rule(pattern: Glob("wg?"), linkClass: .other, isMetered: false)]),
            underlay: [2: 1])
        #expect(stack.class(of: 2) == .other)
        #expect(stack.lowerNames(of: 2) == ["wwan0"])
        #expect(!stack.isMetered(2))
        #expect(stack.isMetered(1))
    }
}
