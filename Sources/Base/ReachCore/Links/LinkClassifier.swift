/// The kind of a link by itself, without regard to the links below it.
package enum LinkKind: Hashable, Sendable {
    /// A link that carries packets itself, out of the machine or into software.
    case carrier(LinkClass)
    /// A link carried by the one link that IFLA_LINK names.
    case stackedOnLower
    /// A link carried by its ports, the links whose controller it is.
    case stackedOnPorts
    /// A link carried by the interface of the route to its far end.
    case tunnel
}

/// Determines the kind of a link, in the order of NetworkManager's `linktype_get_type`
/// (libnm-platform/nm-linux-platform.c).
///
/// It differs from NetworkManager in two ways: veth, dummy and the like are virtual, and Ethernet without a device is
/// not wired.
package enum LinkClassifier {
    /// The kind of a link, from its netlink attributes and its traits.
    package static func kind(of link: Link, _ traits: LinkTraits) -> LinkKind {
        if let kind = kind(byNetlinkOf: link) { return kind }
        if let kind = byHardwareType[link.hardwareType] { return kind }
        if let driver = traits.driver, let kind = byDriver[driver] { return kind }
        if let type = traits.deviceType, let kind = byName[type] { return kind }
        if traits.hasPHY80211 || traits.hasWirelessExtensions { return .carrier(.wifi) }
        if isNamedLikeModem(link) { return .carrier(.wwan) }
        // A kind or DEVTYPE that the table lacks is new software, not a cable.
        let isPlain = link.kind == nil && traits.deviceType == nil
        if isPlain, link.hardwareType == HardwareType.ethernet, traits.hasDevice { return .carrier(.wired) }
        return .carrier(.other)
    }

    /// The kind of a link if netlink alone determines it, so that no traits have to be read; otherwise `nil`.
    package static func kind(byNetlinkOf link: Link) -> LinkKind? {
        if link.flags.contains(.loopback) { return .carrier(.loopback) }
        return link.kind.flatMap { byName[$0] }
    }

    /// Whether a kind of links is software that leads nowhere else by itself, such as veth.
    static func isVirtual(_ kind: String) -> Bool { byName[kind] == .carrier(.virtual) }

    // The modem drivers of Qualcomm and MediaTek set no DEVTYPE. NetworkManager recognizes them by these names, too.
    private static func isNamedLikeModem(_ link: Link) -> Bool {
        let types = [HardwareType.ethernet, HardwareType.rawIP, HardwareType.qualcommRawIP]
        guard link.kind == nil, types.contains(link.hardwareType) else { return false }
        return ["rmnet", "rev_rmnet", "ccmni"].contains { link.name.hasUTF8Prefix($0) }
    }

    // Kinds by IFLA_INFO_KIND and by DEVTYPE, which use the same words.
    private static let byName: [String: LinkKind] = {
        var table: [String: LinkKind] = [:]
        func add(_ kind: LinkKind, _ names: String...) {
            for name in names { table[name] = kind }
        }
        add(.stackedOnLower, "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec")
        add(.stackedOnPorts, "bond", "team", "bridge", "vrf", "openvswitch", "batadv")
        add(.tunnel, "tun", "wireguard", "amneziawg", "ovpn", "ovpn-dco", "ppp", "xfrm", "vti", "vti6")
        add(.tunnel, "ipip", "sit", "ip6tnl", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan")
        add(.tunnel, "vxlan", "geneve", "bareudp", "amt", "l2tpeth", "gtp", "pfcp")
        add(.carrier(.virtual), "veth", "netkit", "dummy", "ifb", "nlmon", "vsockmon", "netdevsim")
        add(.carrier(.wwan), "wwan", "rmnet")
        add(.carrier(.wifi), "wlan", "virt_wifi")
        // A switch's port has the kind `dsa` since Linux 6.1. A gadget's USB cable leads to another computer.
        add(.carrier(.wired), "dsa", "gadget", "ipoib")
        // A ring of two Ethernet ports (IEC 62439-3). Netlink names the ports neither by IFLA_LINK nor by IFLA_MASTER.
        add(.carrier(.wired), "hsr")
        add(.carrier(.bluetooth), "bluetooth", "lowpan")
        return table
    }()

    private static let byHardwareType: [UInt16: LinkKind] = [
        HardwareType.ieee1394: .carrier(.wired),
        HardwareType.infiniband: .carrier(.wired),
        HardwareType.ppp: .tunnel,
        HardwareType.tunnel: .tunnel,
        HardwareType.tunnel6: .tunnel,
        HardwareType.loopback: .carrier(.loopback),
        HardwareType.sit: .tunnel,
        HardwareType.ipGRE: .tunnel,
        HardwareType.ip6GRE: .tunnel,
        HardwareType.sixLoWPAN: .carrier(.bluetooth),
    ]

    // Drivers that identify the kind. ethtool reports them even if sysfs, which has DEVTYPE, shows another namespace.
    private static let byDriver: [String: LinkKind] = [
        "openvswitch": .stackedOnPorts,
        "netdevsim": .carrier(.virtual),
        "ctcm": .carrier(.wired),  // the channel-to-channel adapter of s390, with ARPHRD_SLIP
        "cdc_mbim": .carrier(.wwan),
        "huawei_cdc_ncm": .carrier(.wwan),
        "hso": .carrier(.wwan),
        "mhi_net": .carrier(.wwan),
        "qmi_wwan": .carrier(.wwan),
        "sierra_net": .carrier(.wwan),
    ]

    // ARPHRD_* of linux/if_arp.h.
    private enum HardwareType {
        static let ethernet: UInt16 = 1
        static let ieee1394: UInt16 = 24
        static let infiniband: UInt16 = 32
        static let ppp: UInt16 = 512
        static let rawIP: UInt16 = 519
        static let qualcommRawIP: UInt16 = 530  // ARPHRD_RAWIP in Qualcomm's kernels
        static let tunnel: UInt16 = 768
        static let tunnel6: UInt16 = 769
        static let loopback: UInt16 = 772
        static let sit: UInt16 = 776
        static let ipGRE: UInt16 = 778
        static let ip6GRE: UInt16 = 823
        static let sixLoWPAN: UInt16 = 825
    }
}

/// Properties of a link from sysfs, ethtool and procfs that netlink does not report.
///
/// Netlink alone cannot distinguish Wi-Fi or a USB modem from Ethernet: all three are ARPHRD_ETHER without a kind.
package struct LinkTraits: Hashable, Sendable {
    /// `DEVTYPE` of `/sys/class/net/NAME/uevent`: `wlan`, `wwan`, `bluetooth`, `gadget`, `dsa`, `vlan`...
    package var deviceType: String?
    /// The driver's name, from sysfs or from ethtool.
    package var driver: String?
    /// Whether cfg80211 manages the link.
    package var hasPHY80211 = false
    /// Whether the link answers wireless extensions, as drivers older than cfg80211 do.
    package var hasWirelessExtensions = false
    /// Whether a device is behind the link: PCI, USB, virtio or platform.
    package var hasDevice = false
    /// The interface that carries the PPPoE session, if the link is PPP and all sessions are on one interface.
    ///
    /// The kernel does not report which session belongs to which PPP link.
    package var pppoeInterface: String?
    /// The number of PPPoE sessions of this machine, if the link is PPP.
    package var pppoeSessions = 0

    /// Creates traits of which nothing is known.
    package init() {}
}
