internal import CNetlink
package import ReachCore

/// Something that happened to the connection of a Wi-Fi link with its network (nl80211, the group `mlme`).
package struct WirelessNotice: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case connected
        /// The device moved to another access point by itself.
        case roamed
        /// - Parameter mayReturn: This machine left without a reason of its own. It does so before it joins another
        ///   access point of the same network: mac80211 leaves with the reason "unspecified" (`ieee80211_mgd_auth`).
        case disconnected(mayReturn: Bool)
    }

    package let interface: InterfaceIndex
    package let kind: Kind
}

/// Parses messages of nl80211. A message that is unknown, truncated or irrelevant gives no value. What access points
/// sent is in them as it was received.
package enum WirelessParser {
    /// The notices of one datagram.
    package static func notices(in datagram: UnsafeRawBufferPointer) -> [WirelessNotice] {
        Messages(datagram).compactMap(notice)
    }

    static func notice(_ message: Message) -> WirelessNotice? {
        guard let (command, attributes) = body(message), let interface = interface(attributes) else { return nil }
        switch nl80211_commands(UInt32(command)) {
        case NL80211_CMD_CONNECT:
            // A status that is not 0 is a refusal (IEEE 802.11, 9.4.1.9).
            let status = number(attributes, NL80211_ATTR_STATUS_CODE, UInt16.self) ?? 0
            return status == 0 ? WirelessNotice(interface: interface, kind: .connected) : nil
        case NL80211_CMD_ROAM: return WirelessNotice(interface: interface, kind: .roamed)
        case NL80211_CMD_DISCONNECT:
            let reason = number(attributes, NL80211_ATTR_REASON_CODE, UInt16.self)
            let isByOther = attributes.contains { $0.type == Int(NL80211_ATTR_DISCONNECTED_BY_AP.rawValue) }
            return WirelessNotice(
                interface: interface, kind: .disconnected(mayReturn: !isByOther && (reason ?? 0) <= unspecifiedReason))
        default: return nil
        }
    }

    /// IEEE 802.11, 9.4.1.7. Firmware that roams by itself gives none.
    private static let unspecifiedReason: UInt16 = 1

    /// What the kernel says of an interface.
    struct Interface: Equatable {
        let index: InterfaceIndex
        /// Whether it is a station of a network. Others, such as access points, have networks of their own.
        let isStation: Bool
        var ssid: SSID?
        var frequency: UInt32?
    }

    static func interface(_ message: Message) -> Interface? {
        guard let (_, attributes) = body(message), let index = interface(attributes),
            let type = number(attributes, NL80211_ATTR_IFTYPE, UInt32.self)
        else { return nil }
        let stations = [NL80211_IFTYPE_STATION.rawValue, NL80211_IFTYPE_P2P_CLIENT.rawValue]
        var result = Interface(index: index, isStation: stations.contains(type))
        result.ssid = attribute(attributes, NL80211_ATTR_SSID).flatMap { SSID($0.payload) }
        result.frequency = number(attributes, NL80211_ATTR_WIPHY_FREQ, UInt32.self)
        return result
    }

    /// The other side of a station: its access point.
    struct Peer: Equatable {
        let address: HardwareAddress
        var signal: Int8?
        var sendRate: UInt64?
        var receiveRate: UInt64?
    }

    static func peer(_ message: Message) -> Peer? {
        guard let (_, attributes) = body(message),
            let address = attribute(attributes, NL80211_ATTR_MAC).flatMap({ HardwareAddress($0.payload) })
        else { return nil }
        let information = attribute(attributes, NL80211_ATTR_STA_INFO)?.nested
        let entry = { (type: nl80211_sta_info) in information?.first { $0.type == Int(type.rawValue) } }
        return Peer(
            address: address, signal: entry(NL80211_STA_INFO_SIGNAL)?.uint8.map { Int8(bitPattern: $0) },
            sendRate: entry(NL80211_STA_INFO_TX_BITRATE).flatMap { rate($0.nested) },
            receiveRate: entry(NL80211_STA_INFO_RX_BITRATE).flatMap { rate($0.nested) })
    }

    /// In kbit/s; the kernel counts in units of 100.
    private static func rate(_ attributes: Attributes) -> UInt64? {
        for attribute in attributes where attribute.type == Int(NL80211_RATE_INFO_BITRATE32.rawValue) {
            return attribute.uint32.map { UInt64($0) * 100 }
        }
        for attribute in attributes where attribute.type == Int(NL80211_RATE_INFO_BITRATE.rawValue) {
            return attribute.payload.structure(UInt16.self).map { UInt64($0) * 100 }
        }
        return nil
    }

    /// The network that the interface has joined, as its access point announces it.
    struct Announcement: Equatable {
        let network: WirelessNetwork
        let security: WirelessSecurity
    }

    /// The announcement in an entry of the list of networks; `nil` for networks that the interface has not joined.
    static func joinedNetwork(_ message: Message) -> Announcement? {
        guard let (_, attributes) = body(message),
            let entry = attribute(attributes, NL80211_ATTR_BSS)?.nested,
            entry.contains(where: {
                $0.type == Int(NL80211_BSS_STATUS.rawValue) && $0.uint32 == NL80211_BSS_STATUS_ASSOCIATED.rawValue
            })
        else { return nil }
        let part = { (type: nl80211_bss) in entry.first { $0.type == Int(type.rawValue) } }
        let elements = part(NL80211_BSS_INFORMATION_ELEMENTS)?.bytes ?? []
        let address = part(NL80211_BSS_BSSID).flatMap { HardwareAddress($0.payload) }
        let capabilities = part(NL80211_BSS_CAPABILITY)?.payload.structure(UInt16.self) ?? 0
        let ssid = InformationElements(elements).first { $0.number == 0 }.flatMap { SSID($0.body) }
        return Announcement(
            network: WirelessNetwork(ssid: ssid, bssid: address),
            security: WirelessSecurity(elements: elements, capabilities))
    }

    private static func body(_ message: Message) -> (command: UInt8, attributes: Attributes)? {
        // Numbers below are those of netlink itself, and an error has no attributes.
        guard message.type >= NLMSG_MIN_TYPE, let (header, attributes) = message.body(genlmsghdr.self) else {
            return nil
        }
        return (header.cmd, attributes)
    }

    private static func interface(_ attributes: Attributes) -> InterfaceIndex? {
        number(attributes, NL80211_ATTR_IFINDEX, InterfaceIndex.self).flatMap { $0 > 0 ? $0 : nil }
    }

    private static func attribute(_ attributes: Attributes, _ type: nl80211_attrs) -> Attribute? {
        attributes.first { $0.type == Int(type.rawValue) }
    }

    private static func number<T: BitwiseCopyable>(
        _ attributes: Attributes, _ type: nl80211_attrs, _: T.Type
    ) -> T? {
        attribute(attributes, type)?.payload.structure(T.self)
    }
}
