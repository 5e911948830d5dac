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
}
