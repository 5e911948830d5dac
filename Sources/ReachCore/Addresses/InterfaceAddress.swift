/// An address that an interface has (RTM_NEWADDR).
package struct InterfaceAddress: Hashable, Sendable {
    /// `IFA_F_*` of linux/if_addr.h, those that matter to reachability.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let optimistic = Flags(rawValue: 0x04)
        package static let duplicate = Flags(rawValue: 0x08)
        package static let deprecated = Flags(rawValue: 0x20)
        package static let tentative = Flags(rawValue: 0x40)
    }

    package var interface: InterfaceIndex
    /// The machine's own address: `IFA_LOCAL` where there is one, since `IFA_ADDRESS` is then the far end.
    package var address: IPAddress
    /// The far end of a point-to-point link, where it has one (`peer`).
    package var peer: IPAddress?
    package var prefixLength: UInt8
    /// `RT_SCOPE_*`: 0 is the universe, 253 the link, 254 the host.
    package var scope: UInt8
    /// Lifetimes are not held, so a mere renewal is no change; a preferred lifetime of 0 reads as deprecated.
    package var flags: Flags

    package init(
        interface: InterfaceIndex, address: IPAddress, prefixLength: UInt8, scope: UInt8 = 0, flags: Flags = []
    ) {
        self.interface = interface
        self.address = address
        self.prefixLength = prefixLength
        self.scope = scope
        self.flags = flags
    }

    /// Packets can be sent from it now: duplicate address detection is over, or not waited for, and did not fail.
    package var isReady: Bool {
        !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }

    /// New connections to other networks should use it: ready, not deprecated (RFC 4862), valid beyond the link.
    package var isPreferred: Bool {
        isReady && !flags.contains(.deprecated) && scope < Self.linkScope && !address.isLoopback
    }

    /// RT_SCOPE_LINK of linux/rtnetlink.h.
    package static let linkScope: UInt8 = 253
}
