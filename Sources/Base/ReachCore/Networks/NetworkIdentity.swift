/// A Wi-Fi network that a link has joined.
package struct WirelessNetwork: Hashable, Sendable {
    /// `nil` where the access point hides it.
    package var ssid: SSID?
    /// The access point.
    package var bssid: HardwareAddress?

    package init(ssid: SSID?, bssid: HardwareAddress?) {
        self.ssid = ssid
        self.bssid = bssid
    }
}

/// What is known of the network behind a link. All of it can be forged by who runs the network, or by a host in it.
package struct NetworkIdentity: Hashable, Sendable {
    /// The Wi-Fi network; `nil` for other links, and while none is joined.
    package var wireless: WirelessNetwork?
    /// The gateways of the default routes, IPv4's first, as far as the neighbour table has their hardware addresses.
    package var gateways: [HardwareAddress] = []
    /// The networks of the link's addresses, without those that every link has.
    package var prefixes: [IPPrefix] = []
    /// The provisioning domains that the gateways announce (RFC 8801), where somebody reads their advertisements.
    package var domains: [ProvisioningDomain] = []
    /// The DHCP server is an Android phone that shares its mobile connection.
    package var isAndroidHotspot = false

    package init() {}

    /// Adds what is known of a link below.
    mutating func merge(_ lower: NetworkIdentity) {
        if wireless == nil { wireless = lower.wireless }
        gateways += lower.gateways
        prefixes += lower.prefixes
        domains += lower.domains
        if lower.isAndroidHotspot { isAndroidHotspot = true }
    }

    /// The network that an iPhone or iPad gives to those who use its mobile connection, over Wi-Fi, USB or Bluetooth.
    /// Other routers hardly ever use this prefix with this length.
    package static let appleHotspot = IPPrefix(IPAddress(ipv4: 0xac14_0a00), length: 28)

    /// Whether the network looks like the hotspot of an Apple device.
    package var isAppleHotspot: Bool { prefixes.contains { $0 == Self.appleHotspot } }

    /// The network's private identifier: the same for as long as the key is the same, and of no use without it. By the
    /// name of the Wi-Fi network, otherwise by the gateway; `nil` where neither is known.
    package func identifier(by key: NetworkKey) -> String? {
        let basis: [UInt8]
        if let ssid = wireless?.ssid {
            basis = [UInt8(ascii: "s")] + ssid.bytes
        } else if let gateway = gateways.first {
            basis = [UInt8(ascii: "g")] + gateway.bytes
        } else {
            return nil
        }
        let digits = String(SipHash.hash(basis, key: (key.low, key.high)), radix: 16)
        return NetworkRule.identifierPrefix + String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

/// A secret number of 16 bytes, made once on each machine, from which the identifiers of unnamed networks are made.
package struct NetworkKey: Hashable, Sendable {
    package static let byteCount = 16

    let low: UInt64
    let high: UInt64

    /// - Returns: `nil` unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        low = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
        high = bytes.dropFirst(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
