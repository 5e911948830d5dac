/// An IPv4 or IPv6 address without a zone or a port.
public struct IPAddress: Hashable, Sendable {
    /// Which of the two Internet protocols an address, a route or a path belongs to.
    public enum Family: UInt8, Hashable, Sendable, CaseIterable {
        /// Internet protocol version 4.
        case ipv4 = 4
        /// Internet protocol version 6.
        case ipv6 = 6

        /// The length of an address in bits.
        public var bitCount: Int { self == .ipv4 ? 32 : 128 }

        /// `IPv4` or `IPv6`, for people.
        package var title: String { self == .ipv4 ? "IPv4" : "IPv6" }

        /// The protocol that finds the hosts on a link.
        package var neighbourProtocol: String { self == .ipv4 ? "ARP" : "neighbour discovery" }
    }

    /// The family of the address.
    public let family: Family
    // The address as one big-endian number; an IPv4 address is the low 32 bits of `low`.
    package let high: UInt64
    package let low: UInt64

    /// Creates an IPv4 address from its 32 bits, most significant first.
    public init(ipv4 bits: UInt32) {
        family = .ipv4
        high = 0
        low = UInt64(bits)
    }

    /// Creates an IPv6 address from its two halves, most significant first.
    public init(ipv6 high: UInt64, _ low: UInt64) {
        family = .ipv6
        self.high = high
        self.low = low
    }

    /// Creates an address from its bytes in network order: four for IPv4, sixteen for IPv6.
    ///
    /// - Returns: `nil` for any other number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        func number(_ part: some Collection<UInt8>) -> UInt64 { part.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(number(bytes)))
        case 16: self.init(ipv6: number(bytes.prefix(8)), number(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// The bytes in network order: four for IPv4, sixteen for IPv6.
    public var bytes: [UInt8] {
        func split(_ number: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (UInt64(count - 1 - $0) * 8)) }
        }
        return family == .ipv4 ? split(low, 4) : split(high, 8) + split(low, 8)
    }

    /// Whether this is 0.0.0.0 or `::`.
    public var isUnspecified: Bool { high == 0 && low == 0 }

    /// Whether the address is in 127.0.0.0/8, or is `::1` (RFC 1122, RFC 4291).
    public var isLoopback: Bool {
        family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1
    }

    /// Whether the address is in 169.254.0.0/16 or fe80::/10, which are valid on one link only (RFC 3927, RFC 4291).
    public var isLinkLocal: Bool {
        family == .ipv4 ? low >> 16 == 0xa9fe : high >> 54 == 0x3fa
    }

    /// Whether the address is in fc00::/7, which the Internet has no way to (RFC 4193).
    package var isUniqueLocal: Bool { family == .ipv6 && high >> 57 == 0x7e }

    /// Whether the address is in 224.0.0.0/4 or ff00::/8 (RFC 5771, RFC 4291).
    public var isMulticast: Bool {
        family == .ipv4 ? low >> 28 == 0xe : high >> 56 == 0xff
    }

    /// Whether the first `count` bits of both addresses are equal. Always false across families.
    package func shares(prefix count: Int, with other: IPAddress) -> Bool {
        guard family == other.family, count <= family.bitCount else { return false }
        guard count > 0 else { return true }
        if family == .ipv4 { return (low ^ other.low) >> UInt64(32 - count) == 0 }
        guard count > 64 else { return (high ^ other.high) >> UInt64(64 - count) == 0 }
        return high == other.high && (low ^ other.low) >> UInt64(128 - count) == 0
    }

    /// The address with all but its first `count` bits cleared.
    package func masked(to count: Int) -> IPAddress {
        func keep(_ number: UInt64, _ bits: Int) -> UInt64 {
            bits <= 0 ? 0 : bits >= 64 ? number : number & (~0 << UInt64(64 - bits))
        }
        guard family == .ipv6 else { return IPAddress(ipv4: UInt32(keep(low << 32, count) >> 32)) }
        return IPAddress(ipv6: keep(high, count), keep(low, count - 64))
    }
}

extension IPAddress {
    /// The IPv4 address that an IPv4-mapped one stands for (RFC 4291 section 2.5.5.2), or else the address itself: the
    /// kernel sends IPv4 packets to it, by the routes of IPv4.
    package var unmapped: IPAddress {
        family == .ipv6 && high == 0 && low >> 32 == 0xffff ? IPAddress(ipv4: UInt32(truncatingIfNeeded: low)) : self
    }
}
