/// The kernel's number for a network interface; unique in a network namespace while the interface exists.
public typealias InterfaceIndex = Int32

/// A network interface as the kernel describes it (RTM_NEWLINK).
package struct Link: Hashable, Sendable {
    /// `IFF_*` of linux/if.h, those that matter to reachability.
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

    /// RFC 2863's operational state, as in Documentation/networking/operstates.rst.
    package enum OperationalState: UInt8, Hashable, Sendable {
        case unknown = 0
        case notPresent, down, lowerLayerDown, testing, dormant, up
    }

    package var index: InterfaceIndex
    package var name: String
    package var alternativeNames: [String] = []
    package var flags: Flags = []
    /// `nil` in a notice that does not say: what was known holds.
    package var operationalState: OperationalState?
    /// `ARPHRD_*` of linux/if_arp.h.
    package var hardwareType: UInt16 = 1
    package var hardwareAddress: [UInt8] = []
    package var mtu: UInt32 = 0
    /// `IFLA_INFO_KIND`: what made it (`vlan`, `bond`, `wireguard`), or `nil` for hardware.
    package var kind: String?
    /// `IFLA_LINK`: the link below, in this namespace. A veth's peer is not below it, and is not held here.
    package var lower: InterfaceIndex?
    /// `IFLA_MASTER`: the bridge, bond, team or VRF that this link is a port of.
    package var controller: InterfaceIndex?
    /// The port an active-backup bond sends through now.
    package var activePort: InterfaceIndex?
    /// The far end that an encapsulation sends to, when it has one.
    package var remote: IPAddress?

    package init(index: InterfaceIndex, name: String) {
        self.index = index
        self.name = name
    }

    /// It has this name, or this alternative name.
    package func isNamed(_ name: String) -> Bool { self.name == name || alternativeNames.contains(name) }

    /// The administrator wants it up.
    package var isUp: Bool { flags.contains(.up) }

    /// It can pass packets now.
    ///
    /// IFF_RUNNING is the kernel's summary of carrier and operational state, and counts a state of `unknown` as up:
    /// modems, tunnels and PPP stay `unknown` for ever. It follows up to a second late; IFF_LOWER_UP is the carrier as it
    /// is. IFLA_CARRIER is no help: it is often 1 on a link that is down.
    package var isUsable: Bool { flags.isSuperset(of: [.up, .running, .lowerUp]) }
}
