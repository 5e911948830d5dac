/// What kind of link carries a path.
///
/// A stacked link (bridge, bond, VLAN, macvlan) has the class of what carries it; a tunnel stays a tunnel and says
/// which link lies below.
public enum LinkClass: String, Hashable, Sendable, CaseIterable {
    /// Ethernet, USB Ethernet, InfiniBand: a cable.
    case wired
    /// IEEE 802.11.
    case wifi
    /// A cellular modem.
    case wwan
    /// Bluetooth PAN and 6LoWPAN.
    case bluetooth
    /// A VPN or an encapsulation: WireGuard, tun, IPIP, GRE, VXLAN, PPP and their like.
    case tunnel
    /// Made by software, with nothing outside the machine known to carry it: veth, dummy, a bridge of containers.
    case virtual
    /// The machine itself.
    case loopback
    /// None of these, or not known.
    case other
}

extension LinkClass {
    /// What nobody has made a rule about: only modems cost money.
    package var isUsuallyMetered: Bool { self == .wwan }
}
