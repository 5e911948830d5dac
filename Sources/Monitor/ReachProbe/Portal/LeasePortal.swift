package import ReachCore

/// Finds the URI of a portal's API in what DHCP clients store (RFC 8910 2.1, 2.2). Nothing is trusted: files may be
/// damaged, and servers send what they like.
package enum LeasePortal {
    /// The option in DHCPv4.
    static let option: UInt8 = 114
    /// The option in DHCPv6.
    static let option6: UInt16 = 103

    /// In the file of a link of systemd-networkd (since version 254), which is about all that the link has now.
    package static func networkd(_ text: String) -> String? {
        for line in text.split(scalar: "\n") where line.hasUTF8Prefix("CAPTIVE_PORTAL=") {
            return nonEmpty(line.dropFirst("CAPTIVE_PORTAL=".count))
        }
        return nil
    }

    /// In a file that contains nothing else, as the hook of udhcpc writes it.
    package static func hook(_ text: String) -> String? { Self.text((text.split(scalar: "\n").first ?? "").utf8) }

    /// In a lease of dhcpcd: the DHCPv4 message as it was received.
    ///
    /// - Parameter addresses: The link's addresses. The file outlives the network, so the lease must be for one of
    ///   them.
    package static func dhcpcd(_ bytes: [UInt8], addresses: Set<IPAddress>) -> String? {
        option(option, inDHCPCD: bytes, addresses: addresses).flatMap(text)
    }

    /// The file with a proxy's configuration (PAC) that a lease of systemd-networkd names, if the link asks for option
    /// 252.
    package static func proxyFile(networkd text: String, addresses: Set<IPAddress>) -> String? {
        var isCurrent = false
        var found: String?
        for line in text.split(scalar: "\n") {
            if line.hasUTF8Prefix("ADDRESS="), let address = IPAddress(String(line.dropFirst("ADDRESS=".count))) {
                isCurrent = addresses.contains(address)
            } else if line.hasUTF8Prefix("OPTION_252=") {
                let digits = line.dropFirst("OPTION_252=".count).utf8.compactMap {
                    UInt8(String(Unicode.Scalar($0)), radix: 16)
                }
                found = Self.text(
                    stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
            }
        }
        return isCurrent ? found : nil
    }

    /// The same in a lease of dhcpcd.
    package static func proxyFile(dhcpcd bytes: [UInt8], addresses: Set<IPAddress>) -> String? {
        option(252, inDHCPCD: bytes, addresses: addresses).flatMap(text)
    }

    /// The same in a file of leases of dhclient, which has no name for the option unless a configuration gives it one.
    package static func proxyFile(dhclient text: String, interface: String, addresses: Set<IPAddress>) -> String? {
        let names: Set<String> = [
            "unknown-252", "wpad", "wpad-url", "local-pac-server", "auto-proxy-config", "local-proxy-config",
        ]
        return lease(with: names, inDHClient: text, interface: interface, addresses: addresses)?.option
    }

    /// Whether it is a DHCPv4 message that leases one of these addresses.
    static func isLease(_ bytes: [UInt8], of addresses: Set<IPAddress>) -> Bool {
        guard bytes.count > 240, bytes[236..<240].elementsEqual([0x63, 0x82, 0x53, 0x63]) else { return false }
        return addresses.contains(IPAddress(ipv4: bytes[16..<20].reduce(0) { $0 << 8 | UInt32($1) }))
    }

    /// An option in a lease of dhcpcd; `nil` if it is not there, or if the lease is not for one of the link's
    /// addresses.
    static func option(_ code: UInt8, inDHCPCD bytes: [UInt8], addresses: Set<IPAddress>) -> [UInt8]? {
        guard isLease(bytes, of: addresses) else { return nil }
        var value: [UInt8] = []
        var place = 240
        while place < bytes.count, bytes[place] != 255 {
            guard bytes[place] != 0 else {
                place += 1
                continue
            }
            guard place + 1 < bytes.count, place + 2 + Int(bytes[place + 1]) <= bytes.count else { break }
            let end = place + 2 + Int(bytes[place + 1])
            // A long option comes in parts (RFC 3396).
            if bytes[place] == code { value += bytes[place + 2..<end] }
            place = end
        }
        return value.isEmpty ? nil : value
    }

    /// In a lease of dhcpcd for IPv6: the DHCPv6 message as it was received.
    package static func dhcpcd6(_ bytes: [UInt8], addresses: Set<IPAddress>) -> String? {
        guard bytes.count > 4 else { return nil }
        var uri: String?
        var isCurrent = false
        forEachOption(bytes[4...]) { code, value in
            if code == option6 { uri = text(value) }
            // IA_NA: three numbers, then options; IAADDR begins with the address (RFC 8415 21.4, 21.6).
            guard code == 3, value.count > 12 else { return }
            forEachOption(value.dropFirst(12)) { code, value in
                guard code == 5, value.count >= 16 else { return }
                let halves = [value.prefix(8), value.dropFirst(8).prefix(8)].map { half in
                    half.reduce(0) { $0 << 8 | UInt64($1) }
                }
                if addresses.contains(IPAddress(ipv6: halves[0], halves[1])) { isCurrent = true }
            }
        }
        return isCurrent ? uri : nil
    }

    private static func forEachOption(_ bytes: ArraySlice<UInt8>, _ body: (UInt16, ArraySlice<UInt8>) -> Void) {
        var rest = bytes
        while rest.count >= 4 {
            let head = Array(rest.prefix(4))
            let length = Int(head[2]) << 8 | Int(head[3])
            guard rest.count >= 4 + length else { return }
            body(UInt16(head[0]) << 8 | UInt16(head[1]), rest.dropFirst(4).prefix(length))
            rest = rest.dropFirst(4 + length)
        }
    }

    /// In a file of leases of dhclient, which NetworkManager's plugin for dhclient writes as well. The last lease
    /// counts that is for this interface and for one of its addresses.
    package static func dhclient(_ text: String, interface: String, addresses: Set<IPAddress>) -> String? {
        lease(with: dhclientNames, inDHClient: text, interface: interface, addresses: addresses)?.option
    }

    /// A lease of dhclient, with the option that was asked for; `nil` if the lease has none.
    struct DHClientLease {
        let option: String?
    }

    /// The present lease in a file of leases of dhclient, with an option as text; `nil` if there is none for the
    /// interface.
    ///
    /// - Parameter names: Names of the option.
    static func lease(
        with names: Set<String>, inDHClient text: String, interface: String, addresses: Set<IPAddress>
    ) -> DHClientLease? {
        var found: DHClientLease?
        var lease: (uri: String?, isForInterface: Bool, isCurrent: Bool)?
        for line in text.split(scalar: "\n") {
            let words = line.splitScalars { " \t;{}".unicodeScalars.contains($0) }
            guard let first = words.first else {
                // A brace alone ends a block; those within a lease of IPv6 are indented.
                guard line.hasUTF8Prefix("}"), let ended = lease else { continue }
                if ended.isForInterface, ended.isCurrent { found = DHClientLease(option: ended.uri) }
                lease = nil
                continue
            }
            switch first {
            case "lease", "lease6": lease = (nil, false, false)
            case "interface" where words.count > 1: lease?.isForInterface = unquoted(words[1]) == interface
            case "fixed-address", "iaaddr":
                if words.count > 1, let address = IPAddress(String(words[1])), addresses.contains(address) {
                    lease?.isCurrent = true
                }
            case "option" where words.count > 2 && names.contains(String(words[1])):
                let value = line[words[1].endIndex...]
                lease?.uri = self.value(value)
            default: break
            }
        }
        return found
    }

    /// Names of the option: dhclient calls it by its older meaning (RFC 3679), by that of RFC 7710, or by its number.
    private static let dhclientNames: Set<String> = [
        "default-url", "unknown-114", "v4-captive-portal", "captive-portal", "dhcp6.v6-captive-portal",
        "dhcp6.captive-portal", "dhcp6.unknown-103",
    ]

    /// A quoted text, or bytes in hexadecimal numbers with colons.
    private static func value(_ text: Substring) -> String? {
        let trimmed = text.dropScalars { $0 == " " }.prefixScalars { $0 != ";" || text.unicodeScalars.contains("\"") }
        if let quoted = trimmed.cut(at: "\"")?.after, let close = quoted.unicodeScalars.lastIndex(of: "\"") {
            return nonEmpty(quoted[..<close])
        }
        let parts = trimmed.split(scalar: ":")
        let bytes = parts.compactMap { UInt8($0, radix: 16) }
        return bytes.count == parts.count ? Self.text(bytes) : nil
    }

    private static func unquoted(_ text: Substring) -> Substring {
        text.between("\"", "\"") ?? text
    }

    private static func text(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        // Some servers end the text with a NUL.
        let used = bytes.last == 0 ? Array(bytes.dropLast()) : Array(bytes)
        return nonEmpty(String(decoding: used, as: UTF8.self)[...])
    }

    private static func nonEmpty(_ text: Substring) -> String? { text.isEmpty ? nil : String(text) }
}
