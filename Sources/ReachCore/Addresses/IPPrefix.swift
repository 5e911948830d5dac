/// A block of addresses that share their first bits, as in a route: `192.0.2.0/24`.
public struct IPPrefix: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the block.
    public let address: IPAddress
    /// How many leading bits are fixed: 0 to 32, or 0 to 128.
    public let length: Int

    /// A prefix from an address in it; bits after `length` are cleared.
    ///
    /// - Returns: `nil` when the family has no prefix of that length.
    public init?(_ address: IPAddress, length: Int) {
        guard (0...address.family.bitCount).contains(length) else { return nil }
        self.address = address.masked(to: length)
        self.length = length
    }

    /// Reads `ADDRESS/LENGTH`; bits after the length may be set and are cleared.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let address = IPAddress(String(parts[0])),
            !parts[1].isEmpty, parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let length = Int(parts[1])
        else { return nil }
        self.init(address, length: length)
    }

    /// The address lies in the block.
    public func contains(_ other: IPAddress) -> Bool { address.shares(prefix: length, with: other) }

    /// `ADDRESS/LENGTH`.
    public var description: String { "\(address)/\(length)" }
}

extension IPPrefix {
    /// The address that stands for the block: its first host. The block's very first address is the network's own, or
    /// the routers' (RFC 4291), and is looked up as such.
    package var representative: IPAddress {
        guard length < address.family.bitCount - 1 else { return address }
        return address.family == .ipv4
            ? IPAddress(ipv4: UInt32(address.low) + 1) : IPAddress(ipv6: address.high, address.low + 1)
    }
}
