internal import CNetlink
internal import CNetlinkGeneric
internal import ReachCore

/// The numbers that this kernel gave to nl80211.
struct WirelessFamily {
    let number: Int
    /// The multicast group of what happens to connections.
    let group: CInt

    /// - Returns: `nil` if the kernel has no Wi-Fi, or this machine no libnl-genl-3.
    init?() {
        var number: CInt = 0
        var group: CInt = 0
        guard reach_generic_family(NL80211_GENL_NAME, "mlme", &number, &group) == 0 else { return nil }
        (self.number, self.group) = (Int(number), group)
    }
}

/// Questions about Wi-Fi links. Confined to one thread.
final class WirelessQueries {
    let family: WirelessFamily
    private let socket: QuerySocket

    /// - Returns: `nil` if the kernel has no Wi-Fi, or this machine no libnl-genl-3.
    init?() {
        guard let family = WirelessFamily(), let socket = try? QuerySocket(NETLINK_GENERIC) else { return nil }
        (self.family, self.socket) = (family, socket)
    }

    /// The network that a link has joined; `nil` if there is none, and for access points.
    func network(of index: InterfaceIndex) -> WirelessNetwork? {
        guard let interface = interface(index), interface.isStation, let peer = peer(of: index) else { return nil }
        // The kernel knows the name only if it did the joining itself, and not wpa_supplicant.
        let ssid = interface.ssid ?? announcement(to: index)?.network.ssid
        return WirelessNetwork(ssid: ssid, bssid: peer.address)
    }

    /// All that people want to know of a link; `nil` if it has joined no network.
    func link(_ index: InterfaceIndex) -> WirelessLink? {
        guard let interface = interface(index), interface.isStation else { return nil }
        guard let peer = peer(of: index) else { return nil }
        let announcement = announcement(to: index)
        var link = WirelessLink(
            network: WirelessNetwork(ssid: interface.ssid ?? announcement?.network.ssid, bssid: peer.address))
        link.frequency = interface.frequency
        link.signal = peer.signal
        link.sendRate = peer.sendRate
        link.receiveRate = peer.receiveRate
        link.security = announcement?.security
        return link
    }

    private func interface(_ index: InterfaceIndex) -> WirelessParser.Interface? {
        var batch = socket.batch()
        batch.add(family.number, Self.header(NL80211_CMD_GET_INTERFACE)) { Self.add(index, to: &$0) }
        var result: WirelessParser.Interface?
        try? socket.exchange(batch) { result = WirelessParser.interface($0) ?? result }
        return result?.index == index ? result : nil
    }

    /// The kernel's list of networks may have hundreds; of them one is joined.
    private func announcement(to index: InterfaceIndex) -> WirelessParser.Announcement? {
        dump(NL80211_CMD_GET_SCAN, index, WirelessParser.joinedNetwork).first
    }

    /// A station has one peer.
    private func peer(of index: InterfaceIndex) -> WirelessParser.Peer? {
        dump(NL80211_CMD_GET_STATION, index, WirelessParser.peer).first
    }

    /// What cannot be queried is not known: the kernel refuses questions about links that are gone.
    private func dump<T>(_ command: nl80211_commands, _ index: InterfaceIndex, _ read: (Message) -> T?) -> [T] {
        let found = try? socket.dump(family.number, Self.header(command)) {
            Self.add(index, to: &$0)
        } read: {
            read($0)
        }
        return found?.last ?? []
    }

    private static func header(_ command: nl80211_commands) -> genlmsghdr {
        genlmsghdr(cmd: UInt8(command.rawValue), version: 0, reserved: 0)
    }

    private static func add(_ index: InterfaceIndex, to batch: inout RequestBatch) {
        batch.attribute(NL80211_ATTR_IFINDEX.rawValue, UInt32(bitPattern: index))
    }
}
