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
