/// A possible path to the Internet in one family: a link that is up, an address to send from, and a route.
///
/// The gateway's neighbour entry does not matter, because probes over the uplink find out whether the gateway answers.
package struct Uplink: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let family: IPAddress.Family
        package let interface: InterfaceIndex

        package init(family: IPAddress.Family, interface: InterfaceIndex) {
            self.family = family
            self.interface = interface
        }
    }

    package let key: Key
    /// The interface's name.
    package var name: String
    /// The first hop; `nil` if there is none, as on point-to-point links.
    package var gateway: IPAddress?
    /// The address from which the kernel would send.
    package var source: IPAddress?
    /// The gateway's neighbour entry; `nil` if the link needs no address resolution.
    package var neighbour: NeighbourState?
    /// The link's networks in this family, each with the machine's address in it.
    package var subnets: [Subnet]
    /// Whether using it costs money or is limited by volume.
    package var isMetered: Bool
    /// Whether the kernel chooses it for this family. Other uplinks serve sockets that are bound to a link.
    package var isPreferred: Bool
    /// Whether the kernel drops the replies. The strict reverse path filter (RFC 3704) accepts a packet only from the link
    /// over which the kernel would answer it.
    package var dropsReplies: Bool

    package struct Subnet: Hashable, Sendable {
        package let address: IPAddress
        package let prefixLength: Int

        package init(address: IPAddress, prefixLength: Int) {
            self.address = address
            self.prefixLength = prefixLength
        }

        /// The network; `nil` if the prefix covers only the address itself.
        package var prefix: IPPrefix? {
            prefixLength < address.family.bitCount ? IPPrefix(address, length: prefixLength) : nil
        }
    }

    package init(
        key: Key, name: String, gateway: IPAddress? = nil, source: IPAddress? = nil, neighbour: NeighbourState? = nil,
        subnets: [Subnet] = [], isMetered: Bool = false, isPreferred: Bool = true,
        dropsReplies: Bool = false
    ) {
        self.key = key
        self.name = name
        self.gateway = gateway
        self.source = source
        self.neighbour = neighbour
        self.subnets = subnets
        self.isMetered = isMetered
        self.isPreferred = isPreferred
        self.dropsReplies = dropsReplies
    }

    /// Whether the first hop has answered before and not failed since, or needs no address resolution.
    package var hasConfirmedNeighbour: Bool {
        guard let neighbour else { return true }
        switch neighbour {
        case .reachable, .stale, .delay, .probe, .noarp, .permanent: return true
        case .none, .incomplete, .failed: return false
        }
    }
}
