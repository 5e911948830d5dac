/// The prefix of IPv6 addresses that stand for IPv4 hosts behind a NAT64 (RFC 6052): a value.
package struct TranslationPrefix: Hashable, Sendable {
    private let prefix: IPPrefix

    /// The name whose IPv6 addresses show the prefix (RFC 7050): it has IPv4 addresses only.
    package static let wellKnownName = "ipv4only.arpa"
    /// Its IPv4 addresses.
    private static let wellKnown: [UInt32] = [0xc000_00aa, 0xc000_00ab]
    /// The lengths that RFC 6052 allows.
    private static let lengths = [96, 64, 56, 48, 40, 32]

    /// - Parameter answer: An IPv6 address of the well-known name.
    /// - Returns: `nil` if it stands for none of the name's IPv4 addresses.
    package init?(_ answer: IPAddress) {
        guard answer.family == .ipv6 else { return nil }
        let length = Self.lengths.first { Self.wellKnown.contains(Self.embedded(in: answer, $0)) }
        guard let length, let prefix = IPPrefix(answer, length: length) else { return nil }
        self.prefix = prefix
    }

    package func contains(_ address: IPAddress) -> Bool { prefix.contains(address) }

    /// The IPv4 address behind a prefix of this length: bits 64 to 71 are left out.
    private static func embedded(in address: IPAddress, _ length: Int) -> UInt32 {
        let bytes = address.bytes
        let places = (length / 8..<16).filter { $0 != 8 || length == 96 }.prefix(4)
        return places.reduce(0) { $0 << 8 | UInt32(bytes[$1]) }
    }
}
