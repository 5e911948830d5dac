import ReachCore
import ReachKernel
import Testing

@Suite struct NoticeParserAddressTests {
    private typealias Kernel = KernelMessage

    private let own: [UInt8] = [192, 0, 2, 1]
    private let far: [UInt8] = [192, 0, 2, 9]
    private let global: [UInt8] = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

    private func parse(_ bytes: [UInt8]) -> InterfaceAddress? {
        guard case .address(let address) = bytes.notices.first else { return nil }
        return address
    }

    @Test func `a notice gives the machine's own address and not the remote one`() throws {
        let plain = Kernel.address(
            on: 70_000, family: 2, length: 24, scope: 253, [Kernel.attribute(1, own), Kernel.attribute(2, own)])
        let expected = InterfaceAddress(
            interface: 70_000, address: try #require(IPAddress(bytes: own)), prefixLength: 24, scope: 253)
        #expect(plain.notices == [.address(expected)])

        let pointToPoint = parse(
            Kernel.address(on: 2, family: 2, length: 32, [Kernel.attribute(1, far), Kernel.attribute(2, own)]))
        #expect(pointToPoint?.address.bytes == own)
        #expect(pointToPoint?.peer?.bytes == far)
        #expect(pointToPoint?.prefixLength == 32)
    }

    @Test func `an IPv6 notice has the machine's address in IFA_ADDRESS, unless there is a remote one`() {
        let plain = parse(Kernel.address(on: 2, family: 10, length: 64, [Kernel.attribute(1, global)]))
        #expect(plain?.address.bytes == global)
        #expect(plain?.peer == nil)
        var other = global
        other[15] = 2
        let pointToPoint = parse(
            Kernel.address(on: 2, family: 10, length: 128, [Kernel.attribute(1, other), Kernel.attribute(2, global)]))
        #expect(pointToPoint?.address.bytes == global)
        #expect(pointToPoint?.peer?.bytes == other)
    }

    @Test func `the removal of an address names the address that was added`() {
        let attributes = [Kernel.attribute(1, far), Kernel.attribute(2, own)]
        let added = parse(Kernel.address(on: 2, family: 2, length: 32, attributes))
        let removed = Kernel.address(on: 2, family: 2, length: 32, isRemoved: true, attributes).notices
        #expect(removed == added.map { [.addressRemoved($0)] })
    }

    @Test(
        arguments: [
            (0x40, nil, .tentative), (0x40, 0, []), (0, 0x48, [.tentative, .duplicate]),
            (0x80, 0x244, [.tentative, .optimistic]), (0x80, 0x80 | 0x20, [.deprecated, .permanent]),
            (0x80, 0xffff_ff13, []),
        ] as [(UInt8, UInt32?, InterfaceAddress.Flags)])
    func `flags come from IFA_FLAGS, or else from the header`(
        header: UInt8, flags: UInt32?, expected: InterfaceAddress.Flags
    ) {
        let attributes = [Kernel.attribute(1, global)] + (flags.map { [Kernel.attribute(8, $0)] } ?? [])
        #expect(parse(Kernel.address(on: 2, family: 10, length: 64, flags: header, attributes))?.flags == expected)
    }

    @Test func `a preferred lifetime of zero means deprecated, before or after the flags`() {
        let address = Kernel.attribute(1, global), flags = Kernel.attribute(8, UInt32(0x80))
        let expired = Kernel.lifetime(preferred: 0, valid: 3600)
        // The kernel puts the flags before the lifetime in IPv4, and after it in IPv6.
        for attributes in [[address, flags, expired], [address, expired, flags], [address, expired]] {
            let bytes = Kernel.address(on: 2, family: 10, length: 64, flags: 0x80, attributes)
            #expect(parse(bytes)?.flags == [.deprecated, .permanent])
            #expect(parse(bytes)?.isPreferred == false)
        }
    }

    @Test func `a renewed lifetime leaves the notice equal`() {
        func renewed(_ preferred: UInt32) -> [Notice] {
            Kernel.address(
                on: 2, family: 10, length: 64,
                [
                    Kernel.attribute(1, global), Kernel.lifetime(preferred: preferred, valid: .max),
                    Kernel.attribute(8, UInt32(0)),
                ]
            ).notices
        }
        #expect(renewed(1) == renewed(86_400))
        #expect(renewed(1) == renewed(.max))
        #expect(renewed(1).count == 1)
    }

    @Test func `a message without an address is skipped, and the next one is parsed`() {
        let good = Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, own)])
        let bad = [
            Kernel.address(on: 2, family: 7, length: 24, [Kernel.attribute(2, own)]),
            Kernel.address(on: 2, family: 2, length: 24, []),
            Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(3, "eth0")]),
            Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, [1, 2, 3])]),
            Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, global)]),
            Kernel.address(on: 2, family: 10, length: 64, [Kernel.attribute(1, own)]),
            Kernel.message(20, fixed: [2, 24, 0]),
            Kernel.message(22, fixed: [2, 24, 0, 0, 2, 0, 0, 0], [Kernel.attribute(2, own)]),
            Kernel.message(999, fixed: [2, 24, 0, 0, 2, 0, 0, 0], [Kernel.attribute(2, own)]),
        ]
        for message in bad {
            #expect(message.notices == [])
            #expect((message + good).notices == good.notices)
            #expect((good + message + good).notices == good.notices + good.notices)
        }
        #expect(good.notices.count == 1)
    }

    @Test func `two messages in one datagram are both applied`() {
        let first = Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, own)])
        let second = Kernel.address(on: 2, family: 2, length: 24, [Kernel.attribute(2, far)])
        var table = NetworkTable()
        let effects = (first + second + first).notices.compactMap { table.apply($0)?.cause }
        #expect(effects == [.addressAdded, .addressAdded])
        #expect(table.addresses[2]?.map(\.address.bytes) == [own, far])
    }
}
