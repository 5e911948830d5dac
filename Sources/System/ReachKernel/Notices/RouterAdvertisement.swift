internal import ReachCore

/// An advertisement of an IPv6 router (RFC 4861 4.2), as a raw socket receives it: the ICMPv6 message, whose checksum
/// the kernel has checked.
///
/// The kernel passes on some options of advertisements (RTM_NEWNDUSEROPT), but not that of provisioning domains.
struct RouterAdvertisement: Equatable {
    static let type: UInt8 = 134
    /// The hop limit that shows that no router passed the message on.
    static let hopLimit: CInt = 255
    private static let headerBytes = 16
    private static let domainOption: UInt8 = 21

    /// Whether the sender is a default router.
    let isRouter: Bool
    /// The first provisioning domain that it names (RFC 8801 3.1).
    let domain: ProvisioningDomain?

    /// - Returns: `nil` for what a host must discard (RFC 4861 6.1.2).
    init?(_ bytes: UnsafeRawBufferPointer, hopLimit: CInt, from source: IPAddress) {
        guard bytes.count >= Self.headerBytes, bytes[0] == Self.type, bytes[1] == 0, hopLimit == Self.hopLimit,
            source.family == .ipv6, source.isLinkLocal
        else { return nil }
        isRouter = bytes[6] != 0 || bytes[7] != 0
        var domain: ProvisioningDomain?
        var place = Self.headerBytes
        while place < bytes.count {
            guard place + 2 <= bytes.count else { return nil }
            // In units of eight bytes, with type and length.
            let length = Int(bytes[place + 1]) * 8
            guard length > 0, place + length <= bytes.count else { return nil }
            if bytes[place] == Self.domainOption, domain == nil {
                // Flags, a delay and a sequence number are before the name.
                domain = ProvisioningDomain(encoded: bytes[place + 6..<place + length])
            }
            place += length
        }
        self.domain = domain
    }
}
