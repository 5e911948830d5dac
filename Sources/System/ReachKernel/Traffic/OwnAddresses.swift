package import ReachCore

/// Addresses of this machine. A connection to one of them leaves the machine by no link, whatever its other end is.
package struct OwnAddresses: Hashable, Sendable {
    private let addresses: Set<IPAddress>
    /// Those that the kernel leaves out by itself, the same ones each time.
    private let first: [IPAddress]

    /// Each costs the kernel one comparison per socket.
    private static let kernelLimit = 128

    package init(_ addresses: some Sequence<IPAddress> = []) {
        self.addresses = Set(addresses)
        first = Array(self.addresses.sorted { ($0.high, $0.low) < ($1.high, $1.low) }.prefix(Self.kernelLimit))
    }

    func contains(_ address: IPAddress) -> Bool { addresses.contains(address) }

    /// The conditions for the kernel.
    func prefixes(_ family: IPAddress.Family) -> [IPPrefix] {
        first.filter { $0.family == family }.compactMap { IPPrefix($0, length: family.bitCount) }
    }
}
