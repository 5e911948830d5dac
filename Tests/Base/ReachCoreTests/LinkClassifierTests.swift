import ReachCore
import ReachTesting
import Testing

/// A link as the kernel shows it, and its expected kind.
struct LinkRow: Sendable, CustomTestStringConvertible {
    var name: String
    var link: Link
    var traits: LinkTraits
    var expected: LinkKind

    init(
        _ name: String, kind: String? = nil, type: UInt16 = 1, _ deviceType: String? = nil, driver: String? = nil,
        device: Bool = false, flags: Link.Flags = [.up, .running], is expected: LinkKind
    ) {
        self.name = name
        link = Link(index: 7, name: String(name.prefix { $0 != " " }))
        link.kind = kind
        link.hardwareType = type
        link.flags = flags
        traits = LinkTraits(deviceType, driver: driver, hasDevice: device)
        self.expected = expected
    }

    var testDescription: String { name }

    func with(_ change: (inout LinkTraits) -> Void) -> LinkRow {
        var row = self
        change(&row.traits)
        return row
    }
}

@Suite struct LinkClassifierTests {
    // Links read from Debian's kernels 6.1 and 6.12: kind, ARPHRD, DEVTYPE, driver, /sys/class/net/NAME/device.
    static let readFromKernels = [
        LinkRow("lo", type: 772, flags: [.up, .running, .loopback], is: .carrier(.loopback)),
        LinkRow("eth0 of virtio", driver: "virtio_net", device: true, is: .carrier(.wired)),
        LinkRow("eth0 of USB", driver: "cdc_ether", device: true, is: .carrier(.wired)),
        LinkRow("eth0 of netdevsim", driver: "netdevsim", device: true, is: .carrier(.virtual)),
        LinkRow("wlan0 station", "wlan", driver: "mac80211_hwsim", device: true, is: .carrier(.wifi))
            .with { $0.hasPHY80211 = true },
        LinkRow("wlan1 access point", "wlan", device: true, is: .carrier(.wifi)),
        LinkRow("hwsim0 monitor", type: 803, is: .carrier(.other)),
        LinkRow("wwan0 of cdc_ether", "wwan", driver: "cdc_ether", device: true, is: .carrier(.wwan)),
        LinkRow("wwan0 of cdc_ncm", "wwan", driver: "cdc_ncm", device: true, is: .carrier(.wwan)),
        LinkRow("wwan0 of qmi_wwan", "wwan", driver: "qmi_wwan", device: true, is: .carrier(.wwan)),
        LinkRow(
            "wwan0 of qmi_wwan, raw IP", type: 65534, "wwan", driver: "qmi_wwan", device: true, is: .carrier(.wwan)),
        LinkRow("wwan0 of wwan_hwsim", kind: "wwan", type: 65534, "wwan", device: true, is: .carrier(.wwan)),
        // Nothing distinguishes a HiLink stick from an Ethernet adapter.
        LinkRow("eth1 of HiLink", driver: "cdc_ether", device: true, is: .carrier(.wired)),
        LinkRow("ppp0", kind: "ppp", type: 512, "ppp", is: .tunnel),
        LinkRow("wireguard", kind: "wireguard", type: 65534, "wireguard", is: .tunnel),
        LinkRow("tun", kind: "tun", type: 65534, is: .tunnel),
        LinkRow("tap", kind: "tun", type: 1, is: .tunnel),
        LinkRow("veth", kind: "veth", driver: "veth", is: .carrier(.virtual)),
        LinkRow("dummy", kind: "dummy", is: .carrier(.virtual)),
        LinkRow("bridge", kind: "bridge", "bridge", driver: "bridge", is: .stackedOnPorts),
        LinkRow("bond", kind: "bond", "bond", driver: "bonding", is: .stackedOnPorts),
        LinkRow("team", kind: "team", driver: "team", is: .stackedOnPorts),
        LinkRow("vlan", kind: "vlan", "vlan", driver: "802.1Q VLAN Support", is: .stackedOnLower),
        LinkRow("macvlan", kind: "macvlan", driver: "macvlan", is: .stackedOnLower),
        LinkRow("ipvlan", kind: "ipvlan", driver: "ipvlan", is: .stackedOnLower),
        LinkRow("macsec", kind: "macsec", "macsec", is: .stackedOnLower),
        LinkRow("vrf", kind: "vrf", driver: "vrf", is: .stackedOnPorts),
        LinkRow("ipip", kind: "ipip", type: 768, is: .tunnel),
        LinkRow("tunl0", kind: "ipip", type: 768, is: .tunnel),
        LinkRow("vti", kind: "vti", type: 768, is: .tunnel),
        LinkRow("ip6tnl", kind: "ip6tnl", type: 769, is: .tunnel),
        LinkRow("sit", kind: "sit", type: 776, is: .tunnel),
        LinkRow("gre", kind: "gre", type: 778, is: .tunnel),
        LinkRow("ip6gre", kind: "ip6gre", type: 823, is: .tunnel),
        LinkRow("gretap", kind: "gretap", is: .tunnel),
        LinkRow("erspan", kind: "erspan", is: .tunnel),
        LinkRow("vxlan", kind: "vxlan", "vxlan", is: .tunnel),
        LinkRow("geneve", kind: "geneve", "geneve", is: .tunnel),
        LinkRow("xfrm", kind: "xfrm", type: 65534, is: .tunnel),
        LinkRow("ifb", kind: "ifb", is: .carrier(.virtual)),
        LinkRow("nlmon", kind: "nlmon", type: 824, is: .carrier(.virtual)),
        LinkRow("usb0 of a gadget", "gadget", driver: "configfs-gadget.modem", device: true, is: .carrier(.wired)),
    ]

    // Further links, from the kernel's source and NetworkManager's table.
    static let fromSources = [
        LinkRow("lan1 of a switch, before Linux 6.1", "dsa", device: true, is: .carrier(.wired)),
        LinkRow("lan1 of a switch", kind: "dsa", "dsa", device: true, is: .carrier(.wired)),
        LinkRow("wlan0 without DEVTYPE", device: true, is: .carrier(.wifi)).with { $0.hasPHY80211 = true },
        LinkRow("eth1 with wireless extensions", device: true, is: .carrier(.wifi))
            .with { $0.hasWirelessExtensions = true },
        LinkRow("mon0 monitor", type: 803, "wlan", device: true, is: .carrier(.wifi)),
        LinkRow("virt_wifi", kind: "virt_wifi", is: .carrier(.wifi)),
        LinkRow("rmnet_data0", type: 519, is: .carrier(.wwan)),
        LinkRow("rmnet_data0 of Qualcomm's kernel", type: 530, is: .carrier(.wwan)),
        LinkRow("rev_rmnet0", is: .carrier(.wwan)),
        LinkRow("ccmni0", is: .carrier(.wwan)),
        LinkRow("rmnet0 of kind rmnet", kind: "rmnet", type: 519, is: .carrier(.wwan)),
        LinkRow("rmnet0 of kind veth", kind: "veth", is: .carrier(.virtual)),
        LinkRow("rmnet0 of another type", type: 280, is: .carrier(.other)),
        LinkRow("gtp0", kind: "gtp", type: 65535, "gtp", is: .tunnel),
        LinkRow("bnep0", "bluetooth", device: true, is: .carrier(.bluetooth)),
        LinkRow("bt0 of 6LoWPAN", type: 825, "bluetooth", is: .carrier(.bluetooth)),
        LinkRow("lowpan0", kind: "lowpan", type: 825, "lowpan", is: .carrier(.bluetooth)),
        LinkRow("ib0", type: 32, driver: "mlx5_core", device: true, is: .carrier(.wired)),
        LinkRow("ib0.8001", kind: "ipoib", type: 32, is: .carrier(.wired)),
        LinkRow("firewire0", type: 24, driver: "firewire_net", device: true, is: .carrier(.wired)),
        LinkRow("slc0 of s390", type: 256, driver: "ctcm", device: true, is: .carrier(.wired)),
        LinkRow("macvtap0", kind: "macvtap", is: .stackedOnLower),
        LinkRow("ipvtap0", kind: "ipvtap", is: .stackedOnLower),
        LinkRow("hsr0", kind: "hsr", "hsr", is: .carrier(.wired)),
        LinkRow("ovs-system", kind: "openvswitch", driver: "openvswitch", is: .stackedOnPorts),
        LinkRow("br-ex", driver: "openvswitch", is: .stackedOnPorts),
        LinkRow("bat0", kind: "batadv", is: .stackedOnPorts),
        LinkRow("l2tpeth0", "l2tpeth", is: .tunnel),
        LinkRow("ppp0 of an old kernel", type: 512, is: .tunnel),
        LinkRow("netkit", kind: "netkit", is: .carrier(.virtual)),
        LinkRow("can0", kind: "can", type: 280, device: true, is: .carrier(.other)),
        LinkRow("teql0", type: 65535, is: .carrier(.other)),
        // ethtool names the driver even if sysfs shows another namespace.
        LinkRow("wwan0 without DEVTYPE", type: 65534, driver: "qmi_wwan", device: true, is: .carrier(.wwan)),
    ]

    @Test(arguments: readFromKernels) func `every kind of link seen on a kernel is classified`(row: LinkRow) {
        #expect(LinkClassifier.kind(of: row.link, row.traits) == row.expected)
    }

    @Test(arguments: fromSources) func `links known only from sources are classified, too`(row: LinkRow) {
        #expect(LinkClassifier.kind(of: row.link, row.traits) == row.expected)
    }

    @Test(arguments: [
        LinkRow("eth0 without a device", driver: "veth", is: .carrier(.other)),
        LinkRow("eth0 of a kind unheard of", kind: "quantum", driver: "quantum", device: true, is: .carrier(.other)),
        LinkRow("eth0 of a DEVTYPE unheard of", "quantum", driver: "quantum", device: true, is: .carrier(.other)),
        LinkRow("eth0 of kind veth", kind: "veth", driver: "veth", device: true, is: .carrier(.virtual)),
    ])
    func `Ethernet without a device, or of an unknown kind, is not wired`(row: LinkRow) {
        #expect(LinkClassifier.kind(of: row.link, row.traits) == row.expected)
    }

    @Test func `netlink alone classifies software links, and sysfs the hardware`() {
        for row in Self.readFromKernels {
            let isSoftware = row.link.kind != nil || row.link.flags.contains(.loopback)
            #expect(LinkClassifier.kind(byNetlinkOf: row.link) == (isSoftware ? row.expected : nil))
        }
    }
}
