import ReachCore
import ReachKernel
import ReachTesting
import Testing

@Suite struct NoticeParserDamageTests {
    private typealias Kernel = KernelMessage

    private static let samples: [[UInt8]] = [
        Kernel.link(
            2,
            [
                Kernel.attribute(3, "eth0"), Kernel.attribute(16, UInt8(6)),
                Kernel.nested(
                    18, [Kernel.attribute(1, "vxlan"), Kernel.nested(2, [Kernel.attribute(2, [192, 0, 2, 1])])]),
                Kernel.nested(52, [Kernel.attribute(53, "first"), Kernel.attribute(53, "second")]),
            ]),
        Kernel.address(
            on: 2, family: 10, length: 64,
            [Kernel.attribute(1, [UInt8](repeating: 1, count: 16)), Kernel.lifetime(preferred: 0, valid: 9)]),
        Kernel.route(
            family: 2, length: 24,
            [
                Kernel.attribute(1, [203, 0, 113, 0]), Kernel.attribute(15, UInt32(254)),
                Kernel.attribute(
                    9, Kernel.nextHop(2, [Kernel.attribute(5, [192, 0, 2, 1])]) + Kernel.nextHop(3)),
            ]),
        Kernel.neighbour(on: 2, family: 2, state: 2, [Kernel.attribute(1, [192, 0, 2, 1])]),
        Kernel.rule(family: 2, to: 24, [Kernel.attribute(6, UInt32(5)), Kernel.attribute(1, [203, 0, 113, 0])]),
        Kernel.nexthop(id: 7), Kernel.setting(family: 2, interface: 2),
    ]

    @Test(arguments: samples)
    func `a truncated datagram gives no notice, and the whole one gives one`(sample: [UInt8]) {
        #expect(sample.notices.count == 1)
        for length in 0..<sample.count { #expect(Array(sample.prefix(length)).notices == [], "\(length) bytes") }
    }

    @Test(arguments: samples)
    func `a message with a shorter length ends there, and the rest is not read`(sample: [UInt8]) {
        for length in 16..<sample.count {
            var cut = sample
            cut.replaceSubrange(0..<4, with: Kernel.number(UInt32(length)))
            // The rest starts with bytes that are no valid header, or a header without a meaning.
            let notices = Array(cut.prefix(length)).notices
            #expect(notices.count <= 1)
            #expect(cut.notices.first == notices.first)
        }
    }

    @Test func `a length of zero, or less than a header's, ends the datagram without a crash`() {
        let good = Self.samples[1]
        for length in (0..<16 as Range<UInt32>) + [UInt32.max, .max - 3, 1 << 31] {
            var bad = good
            bad.replaceSubrange(0..<4, with: Kernel.number(length))
            #expect((good + bad + good).notices == good.notices)
        }
    }

    @Test func `an attribute with a wrong length ends its message, and the next message is parsed`() {
        let address = Kernel.attribute(2, [192, 0, 2, 1])
        let good = Kernel.address(on: 2, family: 2, length: 24, [address])
        for length in [0, 1, 2, 3, 9, 12, 0xffff] as [UInt16] {
            let broken = Kernel.number(length) + Kernel.number(UInt16(2)) + [192, 0, 2, 1]
            let bad = Kernel.address(on: 2, family: 2, length: 24, [broken])
            #expect((bad + good).notices == good.notices)
            let late = Kernel.address(on: 2, family: 2, length: 24, [address, broken])
            #expect((late + good).notices == good.notices + good.notices, "attributes before it count")
        }
    }

    @Test func `a nested attribute cannot reach beyond its parent`() {
        // IFLA_INFO_KIND claims 40 bytes of the 12 that IFLA_LINKINFO has.
        let inner = Kernel.number(UInt16(40)) + Kernel.number(UInt16(1)) + Array("vlan".utf8)
        let bytes = Kernel.link(
            2, [Kernel.attribute(18, inner), Kernel.attribute(3, "eth0"), Kernel.attribute(4, UInt32(1500))])
        guard case .link(let link) = bytes.notices.first else {
            Issue.record("the link itself is valid")
            return
        }
        #expect(link.kind == nil)
        #expect(link.name == "eth0")
        #expect(link.mtu == 1500)
    }

    @Test func `a message whose last attribute is not padded does not extend into the next message`() {
        // No kernel sends this: the message ends with an attribute of 5 bytes, without padding.
        let odd = Kernel.number(UInt16(5)) + Kernel.number(UInt16(99)) + [7]
        var first = Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, [192, 0, 2, 1])]) + odd
        first.replaceSubrange(0..<4, with: Kernel.number(UInt32(first.count)))
        // After the padding, where the next attribute would start, comes another address.
        let second = Kernel.attribute(2, [198, 51, 100, 1])
        guard case .address(let address) = (first + [0, 0, 0] + second).notices.first else {
            Issue.record("the message is valid except for its end")
            return
        }
        #expect(address.address.description == "192.0.2.1")
    }

    @Test(arguments: [0, 1, 7, 9, 0xffff] as [UInt16])
    func `a next hop with a wrong length ends the list`(length: UInt16) {
        var hops = Kernel.nextHop(2, [Kernel.attribute(5, [192, 0, 2, 1])]) + Kernel.nextHop(3)
        let second = hops.count - 8
        hops.replaceSubrange(second..<second + 2, with: Kernel.number(length))
        guard case .route(let route, _) = Kernel.route(family: 2, length: 0, [Kernel.attribute(9, hops)]).notices.first
        else {
            Issue.record("the route itself is valid")
            return
        }
        #expect(route.hops.map(\.interface) == [2])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `randomly damaged bytes do not crash the parser, and valid messages before them are kept`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let sample = random.pick(Self.samples)
            var damaged = random.pick(Self.samples)
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: damaged.indices, using: &random)
                damaged[place] =
                    random.oneIn(3)
                    ? random.pick([0, 1, 4, 0x7f, 0x80, 0xff]) : damaged[place] ^ 1 << random.pick([0, 1, 2, 7])
            }
            damaged.removeLast(random.oneIn(4) ? Int.random(in: 0...damaged.count, using: &random) : 0)
            #expect((sample + damaged).notices.first == sample.notices.first)
        }
    }
}
