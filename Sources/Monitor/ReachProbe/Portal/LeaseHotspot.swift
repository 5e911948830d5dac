package import ReachCore

/// Finds out from what DHCP clients store whether the server is an Android phone that shares its mobile connection: it
/// sends option 43 with a mark (`DhcpServer.java` of Android; NetworkManager and systemd-networkd read it, too).
/// Nothing is trusted: files may be damaged, and servers send what they like. The answers are `nil` where there is no
/// lease for one of the link's addresses.
package enum LeaseHotspot {
    private static let option: UInt8 = 43
    private static let mark = Array("ANDROID_METERED".utf8)

    /// In a lease of systemd-networkd, which has the option in hexadecimal digits.
    package static func networkd(_ text: String, addresses: Set<IPAddress>) -> Bool? {
        var isCurrent = false
        var isMarked = false
        for line in text.split(scalar: "\n") {
            if line.hasUTF8Prefix("ADDRESS="), let address = IPAddress(String(line.dropFirst("ADDRESS=".count))) {
                isCurrent = addresses.contains(address)
            } else if line.hasUTF8Prefix("VENDOR_SPECIFIC=") {
                isMarked = hasMark(hexadecimal: line.dropFirst("VENDOR_SPECIFIC=".count))
            }
        }
        return isCurrent ? isMarked : nil
    }

    /// In the file that the hook of udhcpc writes: the option as it was received.
    package static func hook(_ bytes: [UInt8]) -> Bool { hasMark(bytes) }

    /// In a lease of dhcpcd: the DHCPv4 message as it was received.
    package static func dhcpcd(_ bytes: [UInt8], addresses: Set<IPAddress>) -> Bool? {
        guard LeasePortal.isLease(bytes, of: addresses) else { return nil }
        return LeasePortal.option(option, inDHCPCD: bytes, addresses: addresses).map(hasMark) == true
    }

    /// In a file of leases of dhclient.
    package static func dhclient(_ text: String, interface: String, addresses: Set<IPAddress>) -> Bool? {
        let names: Set<String> = ["vendor-encapsulated-options", "unknown-43"]
        let lease = LeasePortal.lease(with: names, inDHClient: text, interface: interface, addresses: addresses)
        guard let lease else { return nil }
        return lease.option.map { hasMark(Array($0.utf8)) } == true
    }

    /// In what NetworkManager says of a link (NMMetered): its own client stores no option, but guesses from this one. A
    /// `yes` is a setting of the connection, and no guess.
    package static func networkManager(_ metered: Int32) -> Bool? { metered <= 0 ? nil : metered == 3 }

    private static func hasMark(hexadecimal text: Substring) -> Bool {
        let digits = text.unicodeScalars.compactMap(\.hexDigit)
        return hasMark(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    /// Other suboptions may stand before and after the mark.
    private static func hasMark(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= mark.count, bytes.count <= 4096 else { return false }
        return (0...bytes.count - mark.count).contains { bytes[$0..<$0 + mark.count].elementsEqual(mark) }
    }
}
