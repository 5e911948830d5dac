import ReachCore
import Testing

@Suite struct NetworkTableAddressTests {
    private func address(
        _ text: String, on interface: InterfaceIndex = 2, length: UInt8 = 24, flags: InterfaceAddress.Flags = []
    ) throws -> InterfaceAddress {
        InterfaceAddress(
            interface: interface, address: try #require(IPAddress(text)), prefixLength: length, flags: flags)
    }

    @Test func `an address added, repeated, removed twice and added again has three effects`() throws {
        let address = try address("192.0.2.1")
        var table = NetworkTable()
        let notices: [Notice] = [
            .address(address), .address(address), .addressRemoved(address), .addressRemoved(address),
            .address(address),
        ]
        #expect(notices.compactMap { table.apply($0)?.cause } == [.addressAdded, .addressRemoved, .addressAdded])
        #expect(table.addresses == [2: [address]])
    }

    @Test func `the removal of an address that another interface has is no change`() throws {
        var table = NetworkTable()
        _ = table.apply(.address(try address("192.0.2.1", on: 2)))
        #expect(table.apply(.addressRemoved(try address("192.0.2.1", on: 3))) == nil)
        #expect(table.addresses[2]?.count == 1)
    }

    @Test(
        arguments: [
            ([], [.deprecated], Cause.addressChanged), ([.deprecated], [], .addressChanged),
            ([.tentative], [], .addressAdded), ([.tentative], [.tentative, .duplicate], .addressChanged),
            ([.tentative], [.tentative, .optimistic], .addressAdded), ([], [.tentative], .addressChanged),
            ([.duplicate], [], .addressAdded), ([.tentative], [.deprecated], .addressAdded),
        ] as [(InterfaceAddress.Flags, InterfaceAddress.Flags, Cause)])
    func `a change of flags has one effect, an addition when the address becomes ready`(
        old: InterfaceAddress.Flags, new: InterfaceAddress.Flags, cause: Cause
    ) throws {
        var table = NetworkTable()
        _ = table.apply(.address(try address("2001:db8::1", length: 64, flags: old)))
        let changed = try address("2001:db8::1", length: 64, flags: new)
        let effect = NetworkTable.Effect(cause: cause, interface: 2, family: .ipv6)
        #expect(table.apply(.address(changed)) == effect)
        #expect(table.apply(.address(changed)) == nil)
        #expect(table.addresses == [2: [changed]])
    }

    @Test(
        arguments: [
            ([], true, true), ([.tentative], false, false), ([.duplicate], false, false), ([.deprecated], true, false),
            ([.tentative, .optimistic], true, true), ([.tentative, .optimistic, .duplicate], false, false),
            ([.optimistic], true, true), ([.deprecated, .tentative], false, false),
        ] as [(InterfaceAddress.Flags, Bool, Bool)])
    func `flags determine whether an address is ready and preferred`(
        flags: InterfaceAddress.Flags, isReady: Bool, isPreferred: Bool
    ) throws {
        let address = try address("2001:db8::1", length: 64, flags: flags)
        #expect(address.isReady == isReady)
        #expect(address.isPreferred == isPreferred)
    }

    @Test func `an address valid only on the link or the machine is not preferred`() throws {
        for (scope, isPreferred) in [(0, true), (200, true), (253, false), (254, false), (255, false)] {
            var scoped = try address("192.0.2.1")
            scoped.scope = UInt8(scope)
            #expect(scoped.isPreferred == isPreferred, "scope \(scope)")
        }
        #expect(!(try address("127.0.0.1").isPreferred))
        #expect(!(try address("::1").isPreferred))
    }

    @Test func `the removal of an address leaves the others`() throws {
        var table = NetworkTable()
        for text in ["192.0.2.1", "192.0.2.2", "2001:db8::1"] { _ = table.apply(.address(try address(text))) }
        #expect(table.apply(.addressRemoved(try address("192.0.2.2")))?.cause == .addressRemoved)
        #expect(table.addresses[2]?.map(\.address.description) == ["192.0.2.1", "2001:db8::1"])
    }

    /// `ip address add 10.0.0.1 peer 10.0.0.2 dev d; ip address add 10.0.0.1 peer 10.0.0.3 dev d` creates two entries.
    @Test func `IPv4 has one entry for each address, prefix length and far end`() throws {
        let far = [nil, "10.0.0.2", "10.0.0.3"].map { $0.flatMap(IPAddress.init) }
        var entries = try far.map { peer in
            var entry = try address("10.0.0.1", length: 32)
            entry.peer = peer
            return entry
        }
        entries.append(try address("10.0.0.1", length: 31))
        var table = NetworkTable()
        #expect(entries.compactMap { table.apply(.address($0))?.cause } == Array(repeating: .addressAdded, count: 4))
        #expect(table.addresses[2]?.count == 4)
        #expect(table.apply(.addressRemoved(entries[1]))?.cause == .addressRemoved)
        #expect(Set(table.addresses[2] ?? []) == [entries[0], entries[2], entries[3]])
    }

    @Test func `IPv6 has one entry for each address and link, whatever its prefix length and far end`() throws {
        var table = NetworkTable()
        _ = table.apply(.address(try address("2001:db8::1", length: 64)))
        var changed = try address("2001:db8::1", length: 48)
        changed.peer = IPAddress("2001:db8::2")
        #expect(table.apply(.address(changed))?.cause == .addressChanged)
        #expect(table.addresses == [2: [changed]])
        #expect(table.apply(.addressRemoved(try address("2001:db8::1", length: 64)))?.cause == .addressRemoved)
        #expect(table.addresses == [:])
    }
}
