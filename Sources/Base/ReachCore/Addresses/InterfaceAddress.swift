/// The kernel's number for a network interface. It is unique in a network namespace while the interface exists.
public typealias InterfaceIndex = Int32

/// An address assigned to an interface (RTM_NEWADDR).
package struct InterfaceAddress: Hashable, Sendable {
    /// The `IFA_F_*` flags of linux/if_addr.h that matter to reachability.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let optimistic = Flags(rawValue: 0x04)
        package static let duplicate = Flags(rawValue: 0x08)
        package static let deprecated = Flags(rawValue: 0x20)
        package static let tentative = Flags(rawValue: 0x40)
        /// It has no lifetime, so it is no lease of a DHCP server.
        package static let permanent = Flags(rawValue: 0x80)
    }

    package var interface: InterfaceIndex
    /// The machine's own address: `IFA_LOCAL` if present, because `IFA_ADDRESS` is then the far end.
    package var address: IPAddress
    /// The far end of a point-to-point link (`peer` in ip-address(8)), if there is one.
    package var peer: IPAddress?
    package var prefixLength: UInt8
    /// `RT_SCOPE_*` of linux/rtnetlink.h: 0 is the universe, 253 the link, 254 the host.
    package var scope: UInt8
    /// The flags. Lifetimes are not stored, so a renewal is no change; a preferred lifetime of 0 reads as deprecated.
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

    /// Whether packets can be sent from it now: duplicate address detection passed, or need not be waited for.
    package var isReady: Bool {
        !flags.contains(.duplicate) && (!flags.contains(.tentative) || flags.contains(.optimistic))
    }

    /// Whether new connections to other networks should use it: ready, not deprecated (RFC 4862), valid beyond the
    /// link.
    package var isPreferred: Bool {
        isUsable && !flags.contains(.deprecated)
    }

    /// Whether packets to other networks may have it as their source. A deprecated address still works (RFC 4862,
    /// 5.5.4).
    package var isUsable: Bool { isReady && scope < Self.linkScope && !address.isLoopback }

    /// RT_SCOPE_LINK of linux/rtnetlink.h.
    package static let linkScope: UInt8 = 253
}

extension [InterfaceAddress] {
    /// The address from which to send to other networks: a deprecated one only where there is no other (RFC 6724, rule
    /// 3).
    package var bestSource: InterfaceAddress? { first(where: \.isPreferred) ?? first(where: \.isUsable) }
}
