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

/// An address of six bytes on an Ethernet or Wi-Fi link: a MAC address, or the BSSID of an access point.
public struct HardwareAddress: Hashable, Sendable, CustomStringConvertible {
    /// The six bytes, the first of them in the highest used bits.
    package let number: UInt64

    /// - Returns: `nil` unless there are six bytes, not all of them zero or all of them 255.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 6 else { return nil }
        let number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
        guard number != 0, number != 0xffff_ffff_ffff else { return nil }
        self.number = number
    }

    /// Reads six pairs of hexadecimal digits with colons or hyphens between them.
    package init?(_ text: String) {
        let parts = text.splitScalars(omittingEmptySubsequences: false) { $0 == ":" || $0 == "-" }
        let bytes = parts.compactMap { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { $0 != 0x2b && $0 != 0x2d } ? UInt8(part, radix: 16) : nil
        }
        guard bytes.count == parts.count else { return nil }
        self.init(bytes)
    }

    package var bytes: [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: number >> (40 - 8 * $0)) } }

    /// Lower-case digits with colons, as the kernel's tools print them.
    public var description: String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
    }
}
