/// What a link is by itself, before anybody looks at what lies below it.
package enum LinkKind: Hashable, Sendable {
    /// Carries packets itself, out of the machine or into software.
    case carrier(LinkClass)
    /// Carried by the one link that IFLA_LINK names.
    case stackedOnLower
    /// Carried by its ports: the links whose controller it is.
    case stackedOnPorts
    /// Carried by whatever the route to its far end leads through.
    case tunnel
}

/// Tells what a link is, in the order of NetworkManager's `linktype_get_type` (libnm-platform/nm-linux-platform.c).
///
/// Where the two part: veth, dummy and their like are virtual, and no Ethernet without a device is taken for a cable.
package enum LinkClassifier {
    /// What the link is, from all that is known of it.
    package static func kind(of link: Link, _ traits: LinkTraits) -> LinkKind {
        if let kind = kind(byNetlinkOf: link) { return kind }
        if let kind = byHardwareType[link.hardwareType] { return kind }
        if let driver = traits.driver, let kind = byDriver[driver] { return kind }
        if let type = traits.deviceType, let kind = byName[type] { return kind }
        if traits.hasPHY80211 || traits.hasWirelessExtensions { return .carrier(.wifi) }
        if isNamedLikeModem(link) { return .carrier(.wwan) }
        // A kind or DEVTYPE that is not in the table is software yet to be invented, not a cable.
        let isPlain = link.kind == nil && traits.deviceType == nil
        if isPlain, link.hardwareType == HardwareType.ethernet, traits.hasDevice { return .carrier(.wired) }
        return .carrier(.other)
    }

    /// What the link is, if netlink tells already: then nothing else need be read.
    package static func kind(byNetlinkOf link: Link) -> LinkKind? {
        if link.flags.contains(.loopback) { return .carrier(.loopback) }
        return link.kind.flatMap { byName[$0] }
    }

    // Vendors' modem drivers that set no DEVTYPE: Qualcomm's and MediaTek's. NetworkManager goes by these names too.
    private static func isNamedLikeModem(_ link: Link) -> Bool {
        let types = [HardwareType.ethernet, HardwareType.rawIP, HardwareType.qualcommRawIP]
        guard link.kind == nil, types.contains(link.hardwareType) else { return false }
        return ["rmnet", "rev_rmnet", "ccmni"].contains { link.name.hasPrefix($0) }
    }

    // By IFLA_INFO_KIND, and by DEVTYPE, which uses the same words.
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
        // A switch's port has been of kind `dsa` since Linux 6.1, and a gadget's cable leads to another computer.
        add(.carrier(.wired), "dsa", "gadget", "ipoib")
        // A ring of two Ethernet ports (IEC 62439-3), which netlink names neither as lower link nor by controller.
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

    // Drivers of nothing but modems: ethtool names them where sysfs, which has DEVTYPE, is another namespace's.
    private static let byDriver: [String: LinkKind] = [
        "openvswitch": .stackedOnPorts,
        "netdevsim": .carrier(.virtual),
        "ctcm": .carrier(.wired),  // s390's channel to channel adapter, of ARPHRD_SLIP
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
        static let qualcommRawIP: UInt16 = 530  // ARPHRD_RAWIP of Qualcomm's kernels
        static let tunnel: UInt16 = 768
        static let tunnel6: UInt16 = 769
        static let loopback: UInt16 = 772
        static let sit: UInt16 = 776
        static let ipGRE: UInt16 = 778
        static let ip6GRE: UInt16 = 823
        static let sixLoWPAN: UInt16 = 825
    }
}

/// What sysfs, ethtool and procfs say of a link, and netlink does not.
///
/// Netlink alone cannot tell Wi-Fi or a USB modem from Ethernet: all three are ARPHRD_ETHER without a kind.
package struct LinkTraits: Hashable, Sendable {
    /// `DEVTYPE` of `/sys/class/net/NAME/uevent`: `wlan`, `wwan`, `bluetooth`, `gadget`, `dsa`, `vlan`...
    package var deviceType: String?
    /// The driver's name, from sysfs or from ethtool.
    package var driver: String?
    /// cfg80211 manages it.
    package var hasPHY80211 = false
    /// It answers wireless extensions, as drivers do that are older than cfg80211.
    package var hasWirelessExtensions = false
    /// Hardware, or what plays it, is behind the link: a PCI, USB, virtio or platform device.
    package var hasDevice = false
    /// The interface that carries the PPPoE session, if the link is PPP and all sessions are on one interface.
    ///
    /// The kernel tells nobody which session belongs to which PPP link.
    package var pppoeInterface: String?

    /// Nothing known.
    package init() {}
}
