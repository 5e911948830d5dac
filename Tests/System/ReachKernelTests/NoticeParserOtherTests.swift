import ReachCore
import ReachKernel
import Testing

@Suite struct NoticeParserOtherTests {
    private typealias Kernel = KernelMessage

    private static let host: [UInt8] = [192, 0, 2, 1]
    private static let host6: [UInt8] = [0xfe, 0x80] + Array(repeating: 0, count: 13) + [1]

    @Test(arguments: [host, host6])
    func `a neighbour and its removal are parsed`(bytes: [UInt8]) throws {
        let family: UInt8 = bytes.count == 4 ? 2 : 10
        let attributes = [Kernel.attribute(1, bytes), Kernel.attribute(2, [2, 0, 0, 0, 0, 1] as [UInt8])]
        let key = Neighbour.Key(interface: 70_000, address: try #require(IPAddress(bytes: bytes)))
        var neighbour = Neighbour(key: key, state: .failed)
        neighbour.hardwareAddress = HardwareAddress("02:00:00:00:00:01")
        #expect(
            Kernel.neighbour(on: 70_000, family: family, state: 0x20, attributes).notices == [.neighbour(neighbour)])
        #expect(
            Kernel.neighbour(on: 70_000, family: family, state: 0x20, isRemoved: true, attributes).notices
                == [.neighbourRemoved(key)])
    }

    @Test func `a neighbour's hardware address has six bytes, or is left out`() {
        for bytes: [UInt8] in [[0, 0, 0, 0, 0, 0], [1, 2, 3, 4], [UInt8](repeating: 1, count: 20), []] {
            let attributes = [Kernel.attribute(1, Self.host), Kernel.attribute(2, bytes)]
            guard
                case .neighbour(let neighbour)? = Kernel.neighbour(on: 2, family: 2, state: 2, attributes).notices.first
            else { return #expect(Bool(false), "\(bytes)") }
            #expect(neighbour.hardwareAddress == nil, "\(bytes)")
        }
    }

    @Test func `a bridge's forwarding entry is no neighbour, nor is an entry without an address`() {
        #expect(Kernel.neighbour(on: 2, family: 7, state: 2, [Kernel.attribute(1, Self.host)]).notices == [])
        #expect(Kernel.neighbour(on: 2, family: 2, state: 2, [Kernel.attribute(2, Self.host)]).notices == [])
        #expect(Kernel.neighbour(on: 2, family: 2, state: 2, [Kernel.attribute(1, [1, 2] as [UInt8])]).notices == [])
    }

    @Test func `every field of a rule is parsed, and so is its removal`() {
        let attributes = [
            Kernel.attribute(6, UInt32(100)), Kernel.attribute(15, UInt32(51_820)),
            Kernel.attribute(2, [10, 0, 0, 0] as [UInt8]),
            Kernel.attribute(1, [203, 0, 113, 0] as [UInt8]), Kernel.attribute(10, UInt32(0xca6c)),
            Kernel.attribute(16, UInt32(0xffff)), Kernel.attribute(3, "lo"), Kernel.attribute(17, "eth0"),
            Kernel.attribute(14, Int32(0)), Kernel.attribute(13, Int32(-1)),
        ]
        var rule = Rule(family: .ipv4, priority: 100, action: .table, table: 51_820)
        rule.from = IPPrefix("10.0.0.0/8")
        rule.to = IPPrefix("203.0.113.0/24")
        rule.mark = 0xca6c
        rule.markMask = 0xffff
        rule.inputInterface = "lo"
        rule.outputInterface = "eth0"
        rule.isInverted = true
        rule.suppressedPrefixLength = 0
        #expect(Kernel.rule(family: 2, to: 24, from: 8, table: 252, flags: 2, attributes).notices == [.rule(rule)])
        #expect(
            Kernel.rule(family: 2, to: 24, from: 8, table: 252, flags: 2, isRemoved: true, attributes).notices
                == [.ruleRemoved(rule)])
    }

    @Test func `a rule without attributes has the default values`() {
        #expect(
            Kernel.rule(family: 10, table: 255, [Kernel.attribute(14, Int32(-1))]).notices
                == [.rule(Rule(family: .ipv6, priority: 0, table: 255))])
    }

    @Test(
        arguments: [
            (1, .table), (2, .goto), (3, .nop), (6, .blackhole), (7, .unreachable), (8, .prohibit), (0, .unspecified),
        ] as [(UInt8, Rule.Action)])
    func `every action of a rule is parsed`(number: UInt8, action: Rule.Action) {
        #expect(
            Kernel.rule(family: 2, action: number, []).notices
                == [.rule(Rule(family: .ipv4, priority: 0, action: action))])
    }

    @Test func `rules of other families, as for multicast routing, are ignored`() {
        #expect(Kernel.rule(family: 128, []).notices == [])
        #expect(Kernel.rule(family: 129, []).notices == [])
    }

    @Test func `a notice of a nexthop object gives its number`() {
        #expect(Kernel.nexthop(id: 7).notices == [.nexthop(id: 7)])
        #expect(Kernel.nexthop(id: 0xffff_fffe, isRemoved: true).notices == [.nexthopRemoved(id: 0xffff_fffe)])
        #expect(Kernel.message(104, fixed: [2, 0, 3, 0, 0, 0, 0, 0]).notices == [])
    }

    @Test func `a setting is for one interface, or for all`() {
        #expect(Kernel.setting(family: 2, interface: 3).notices == [.setting(family: .ipv4, interface: 3)])
        #expect(Kernel.setting(family: 10, interface: -1).notices == [.setting(family: .ipv6, interface: nil)])
        #expect(Kernel.setting(family: 2, interface: -2).notices == [.setting(family: .ipv4, interface: nil)])
        #expect(Kernel.setting(family: 28, interface: 3).notices == [])
        #expect(Kernel.message(80, fixed: [2]).notices == [.setting(family: .ipv4, interface: nil)])
    }

    @Test func `acknowledgements, errors and the end of a dump are no notices`() {
        for type in [1, 2, 3, 4] as [UInt16] {
            #expect(Kernel.message(type, fixed: [UInt8](repeating: 0, count: 20)).notices == [])
        }
    }
}
