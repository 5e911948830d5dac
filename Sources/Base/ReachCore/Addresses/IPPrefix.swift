/// A block of addresses that share their first bits, as in a route: `192.0.2.0/24`.
public struct IPPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the block.
    public let address: IPAddress
    /// The number of leading bits that are fixed: 0 to 32 for IPv4, 0 to 128 for IPv6.
    public let length: Int

    /// Creates the prefix of this length that contains `address`; clears the bits after `length`.
    ///
    /// - Returns: `nil` when the family has no prefix of that length.
    public init?(_ address: IPAddress, length: Int) {
        guard (0...address.family.bitCount).contains(length) else { return nil }
        self.address = address.masked(to: length)
        self.length = length
    }

    /// Reads `ADDRESS/LENGTH` and clears the bits after the length.
    ///
    /// - Returns: `nil` for anything else.
    public init?(_ text: String) {
        let parts = text.split(scalar: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])),
            !parts[1].isEmpty, parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let length = Int(parts[1])
        else { return nil }
        self.init(address, length: length)
    }

    /// Whether the address lies in the block.
    public func contains(_ other: IPAddress) -> Bool { address.shares(prefix: length, with: other) }

    /// `ADDRESS/LENGTH`.
    public var description: String { "\(address)/\(length)" }
}

extension IPPrefix {
    /// The address to look up for the block: its first host.
    ///
    /// The block's lowest address would not do: in IPv4 it names the network, in IPv6 it is the anycast address of the
    /// routers (RFC 4291), and the kernel routes it as such.
    package var representative: IPAddress {
        guard length < address.family.bitCount - 1 else { return address }
        return address.family == .ipv4
            ? IPAddress(ipv4: UInt32(address.low) + 1) : IPAddress(ipv6: address.high, address.low + 1)
    }
}

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
