package import ReachCore

/// The TCP sockets of other programs whose packets leave by a path.
package struct PathSockets: Hashable, Sendable {
    package var family: IPAddress.Family
    package var interface: InterfaceIndex
    /// This machine's addresses on the path. Sockets with other local addresses do not count.
    package var sources: [IPAddress]
    /// Remote addresses that are not beyond the path's gateway, or prove nothing.
    package var excludedPrefixes: [IPPrefix]
    /// This machine's addresses: with those of other links, too, any user can talk to itself.
    package var own: OwnAddresses

    package init(
        _ family: IPAddress.Family, by interface: InterfaceIndex, from sources: [IPAddress],
        excluding prefixes: [IPPrefix] = [], own: OwnAddresses = OwnAddresses()
    ) {
        self.family = family
        self.interface = interface
        self.sources = sources
        excludedPrefixes = prefixes
        self.own = own
    }

    /// Whether a socket for which these hold is bound to no other interface, and has another machine at its far end.
    func has(_ socket: DiagnosedSocket) -> Bool {
        (socket.interface == 0 || socket.interface == interface) && !own.contains(socket.remote.address)
    }
}

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
