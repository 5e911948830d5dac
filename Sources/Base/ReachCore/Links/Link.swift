/// A network interface as the kernel describes it (RTM_NEWLINK).
package struct Link: Hashable, Sendable {
    /// The `IFF_*` flags of linux/if.h that matter to reachability.
    package struct Flags: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let up = Flags(rawValue: 1 << 0)
        package static let loopback = Flags(rawValue: 1 << 3)
        package static let pointToPoint = Flags(rawValue: 1 << 4)
        package static let running = Flags(rawValue: 1 << 6)
        package static let noARP = Flags(rawValue: 1 << 7)
        package static let lowerUp = Flags(rawValue: 1 << 16)
        package static let dormant = Flags(rawValue: 1 << 17)
    }

    /// The operational state of RFC 2863, with the kernel's numbers (Documentation/networking/operstates.rst).
    package enum OperationalState: UInt8, Hashable, Sendable {
        case unknown = 0
        case notPresent, down, lowerLayerDown, testing, dormant, up
    }

    package var index: InterfaceIndex
    package var name: String
    package var alternativeNames: [String] = []
    package var flags: Flags = []
    /// The operational state; `nil` in a notice without one, which leaves the known state in force.
    package var operationalState: OperationalState?
    /// `ARPHRD_*` of linux/if_arp.h.
    package var hardwareType: UInt16 = 1
    package var hardwareAddress: [UInt8] = []
    package var mtu: UInt32 = 0
    /// `IFLA_INFO_KIND`: the type of a software link (`vlan`, `bond`, `wireguard`); `nil` for hardware.
    package var kind: String?
    /// `IFLA_LINK`: the link below, if it is in this namespace. A veth's peer is not below it and is not stored here.
    package var lower: InterfaceIndex?
    /// `IFLA_MASTER`: the bridge, bond, team or VRF of which this link is a port.
    package var controller: InterfaceIndex?
    /// The port through which an active-backup bond currently sends.
    package var activePort: InterfaceIndex?
    /// The far end of a tunnel, if it has a fixed one.
    package var remote: IPAddress?

    package init(index: InterfaceIndex, name: String) {
        self.index = index
        self.name = name
    }

    /// Whether this is the link's name or one of its alternative names.
    package func isNamed(_ name: String) -> Bool { self.name == name || alternativeNames.contains(name) }

    /// Whether the link is administratively up.
    package var isUp: Bool { flags.contains(.up) }

    /// Whether the kernel finds hosts on the link by ARP or neighbour discovery, as on Ethernet.
    package var resolvesNeighbours: Bool { flags.isDisjoint(with: [.noARP, .pointToPoint, .loopback]) }

    /// Whether the link can pass packets now.
    ///
    /// IFF_RUNNING is the kernel's summary of carrier and operational state. It counts the state `unknown` as up, in
    /// which modems, tunnels and PPP stay permanently. It can lag by a second; IFF_LOWER_UP is the current carrier.
    /// IFLA_CARRIER does not help, because it is often 1 on a link that is down.
    package var isUsable: Bool { flags.isSuperset(of: [.up, .running, .lowerUp]) }
}

/// The kind of link that carries a path.
///
/// A stacked link (bridge, bond, VLAN, macvlan) has the class of the link that carries it. A tunnel stays a tunnel, and
/// the path names the links below it.
public enum LinkClass: String, Hashable, Sendable, CaseIterable {
    /// A cable: Ethernet, USB Ethernet, InfiniBand.
    case wired
    /// IEEE 802.11.
    case wifi
    /// A cellular modem.
    case wwan
    /// Bluetooth PAN and 6LoWPAN.
    case bluetooth
    /// A VPN or another encapsulation: WireGuard, tun, IPIP, GRE, VXLAN, PPP and the like.
    case tunnel
    /// A software link that no known hardware carries: veth, dummy, a bridge of containers.
    case virtual
    /// The machine itself.
    case loopback
    /// Another kind, or an unknown one.
    case other
}

extension LinkClass {
    /// Whether links of this class count as metered without a rule: only modems do.
    package var isUsuallyMetered: Bool { self == .wwan }

    /// Whether modules of the kernel create such links by themselves.
    var maySpawn: Bool {
        switch self {
        case .virtual, .tunnel, .other: true
        case .wired, .wifi, .wwan, .bluetooth, .loopback: false
        }
    }

    /// Whether a radio carries such links, which rfkill may switch off.
    var isRadio: Bool {
        switch self {
        case .wifi, .wwan, .bluetooth: true
        case .wired, .tunnel, .virtual, .loopback, .other: false
        }
    }

    /// Whether a phone may share its network by such links.
    var mayLeadToPhone: Bool {
        switch self {
        case .wifi, .wired, .bluetooth: true
        case .wwan, .tunnel, .virtual, .loopback, .other: false
        }
    }
}
