import ReachCore
import ReachKernel
import Testing

@Suite struct NoticeParserLinkTests {
    private typealias Kernel = KernelMessage

    private func parse(
        _ attributes: [[UInt8]], index: InterfaceIndex = 2, family: UInt8 = 0, flags: UInt32 = 0x11043
    ) -> Link? {
        guard case .link(let link) = Kernel.link(index, family: family, flags: flags, attributes).notices.first else {
            return nil
        }
        return link
    }

    private static let name = KernelMessage.attribute(3, "eth0")

    @Test func `every field of a link is parsed, among other attributes`() {
        let bytes = Kernel.link(
            70_000, hardwareType: 512, flags: 0x110d1,
            [
                Kernel.attribute(3, "ppp0"), Kernel.attribute(13, UInt32(1000)), Kernel.attribute(16, UInt8(6)),
                Kernel.attribute(17, UInt8(0)), Kernel.attribute(4, UInt32(1492)), Kernel.attribute(1, [1, 2, 3]),
                Kernel.attribute(7, [UInt8](repeating: 0xaa, count: 96)), Kernel.attribute(10, Int32(9)),
                Kernel.attribute(5, Int32(4)), Kernel.attribute(999, [1]),
                Kernel.nested(
                    18, [Kernel.attribute(1, "macvlan"), Kernel.nested(2, [Kernel.attribute(1, UInt32(4))])]),
                Kernel.nested(52, isMarked: true, [Kernel.attribute(53, "first"), Kernel.attribute(53, "second")]),
            ])
        var expected = Link(index: 70_000, name: "ppp0")
        expected.flags = [.up, .pointToPoint, .running, .noARP, .lowerUp]
        expected.hardwareType = 512
        expected.hardwareAddress = [1, 2, 3]
        expected.mtu = 1492
        expected.operationalState = .up
        expected.kind = "macvlan"
        expected.lower = 4
        expected.controller = 9
        expected.alternativeNames = ["first", "second"]
        #expect(bytes.notices == [.link(expected)])
    }

    @Test func `the removal of a link gives its index`() {
        #expect(Kernel.link(5, isRemoved: true, [Self.name]).notices == [.linkRemoved(5)])
    }

    @Test func `irrelevant flags are dropped, and an unknown operational state is nil`() {
        let link = parse([Self.name], flags: .max)
        #expect(link?.flags == [.up, .loopback, .pointToPoint, .running, .noARP, .lowerUp, .dormant])
        #expect(link?.operationalState == nil)
        #expect(parse([Self.name, Kernel.attribute(16, UInt8(5))])?.operationalState == .dormant)
        #expect(parse([Self.name, Kernel.attribute(16, UInt8(200))])?.operationalState == nil)
    }

    @Test func `events of the wireless extensions are no notices`() {
        #expect(Kernel.link(2, change: 0, [Self.name, Kernel.attribute(11, [1, 2, 3, 4])]).notices == [])
    }

    @Test(arguments: [7, 10, 2, 255] as [UInt8])
    func `a protocol's message about its port on a link is no notice of the link`(family: UInt8) {
        #expect(Kernel.link(2, family: family, [Self.name]).notices == [])
        #expect(Kernel.link(2, family: family, isRemoved: true, [Self.name]).notices == [], "a port left its bridge")
    }

    @Test func `a link without a name or an index is ignored`() {
        #expect(parse([]) == nil)
        #expect(parse([Kernel.attribute(3, "")]) == nil)
        #expect(parse([Self.name], index: 0) == nil)
        #expect(parse([Self.name], index: -1) == nil)
    }

    @Test func `a name is any bytes up to the first NUL`() {
        #expect(parse([Kernel.attribute(3, [0x65, 0x00, 0x66])])?.name == "e")
        #expect(parse([Kernel.attribute(3, [0x65, 0x66])])?.name == "ef", "it need not end with NUL")
        #expect(parse([Kernel.attribute(3, [0xff, 0x1b, 0x22, 0])])?.name == "\u{fffd}\u{1b}\"")
    }

    @Test(
        arguments: [
            ([KernelMessage.attribute(5, Int32(4))], 4),
            ([KernelMessage.attribute(5, Int32(0))], nil),
            ([KernelMessage.attribute(5, Int32(2))], nil),
            ([KernelMessage.attribute(5, Int32(4)), KernelMessage.attribute(37, Int32(0))], nil),
            ([KernelMessage.attribute(37, Int32(0)), KernelMessage.attribute(5, Int32(4))], nil),
            (
                [KernelMessage.attribute(5, Int32(4)), KernelMessage.nested(18, [KernelMessage.attribute(1, "veth")])],
                nil
            ),
            (
                [
                    KernelMessage.nested(18, [KernelMessage.attribute(1, "netkit")]),
                    KernelMessage.attribute(5, Int32(4)),
                ],
                nil
            ),
            (
                [KernelMessage.attribute(5, Int32(4)), KernelMessage.nested(18, [KernelMessage.attribute(1, "vlan")])],
                4
            ),
        ] as [([[UInt8]], InterfaceIndex?)])
    func `the lower link is one of this namespace, and never a peer or the link itself`(
        attributes: [[UInt8]], lower: InterfaceIndex?
    ) {
        #expect(parse([Self.name] + attributes)?.lower == lower)
    }

    struct Remote: Sendable {
        let kind: String
        let type: UInt16
        let address: [UInt8]
        let isRead: Bool
    }

    @Test(arguments: [
        Remote(kind: "ipip", type: 3, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "sit", type: 3, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "ip6tnl", type: 3, address: [0x20] + Array(repeating: 1, count: 15), isRead: true),
        Remote(kind: "gre", type: 7, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "ip6gretap", type: 7, address: [0x20] + Array(repeating: 1, count: 15), isRead: true),
        Remote(kind: "vti", type: 5, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "vxlan", type: 2, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "vxlan", type: 16, address: [0x20] + Array(repeating: 1, count: 15), isRead: true),
        Remote(kind: "geneve", type: 2, address: [192, 0, 2, 1], isRead: true),
        Remote(kind: "geneve", type: 7, address: [0x20] + Array(repeating: 1, count: 15), isRead: true),
        Remote(kind: "ipip", type: 3, address: [0, 0, 0, 0], isRead: false),
        Remote(kind: "vxlan", type: 2, address: [239, 1, 1, 1], isRead: false),
        Remote(kind: "ipip", type: 3, address: [192, 0, 2], isRead: false),
        Remote(kind: "vlan", type: 3, address: [192, 0, 2, 1], isRead: false),
        Remote(kind: "wireguard", type: 3, address: [192, 0, 2, 1], isRead: false),
    ])
    func `the remote address of a tunnel is parsed where its kind has one`(remote: Remote) {
        let information = Kernel.nested(
            18,
            [
                Kernel.attribute(1, remote.kind),
                Kernel.nested(2, isMarked: true, [Kernel.attribute(remote.type, remote.address)]),
            ])
        let link = parse([Self.name, information])
        #expect(link?.kind == remote.kind)
        #expect(link?.remote?.bytes == (remote.isRead ? remote.address : nil))
    }

    @Test func `a bond has its active port, if there is one`() {
        func bond(_ port: Int32) -> [UInt8] {
            Kernel.nested(18, [Kernel.attribute(1, "bond"), Kernel.nested(2, [Kernel.attribute(2, port)])])
        }
        #expect(parse([Self.name, bond(7)])?.activePort == 7)
        #expect(parse([Self.name, bond(0)])?.activePort == nil)
    }
}
