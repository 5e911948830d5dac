/// A way by which the Internet may be reached in one family: a link that is up, an address to send from, and a route.
///
/// Whether the gateway answers is not asked: what is sent this way is how that is found out.
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
    /// The first hop; `nil` where there is none, as on point-to-point links.
    package var gateway: IPAddress?
    /// The address that the kernel would send from.
    package var source: IPAddress?
    /// What the kernel knows of the gateway; `nil` where it needs no asking.
    package var neighbour: NeighbourState?
    /// The link's own networks in this family, by the machine's address in each.
    package var subnets: [Subnet]
    /// Using it costs money, or is capped.
    package var isMetered: Bool
    /// It is the way that the kernel takes for this family. Others are for those who bind to a link.
    package var isPreferred: Bool
    /// The kernel drops what comes back by it: the strict reverse path filter (RFC 3704) takes a packet only from the
    /// link that it would answer by.
    package var dropsReplies: Bool

    package struct Subnet: Hashable, Sendable {
        package let address: IPAddress
        package let prefixLength: Int

        package init(address: IPAddress, prefixLength: Int) {
            self.address = address
            self.prefixLength = prefixLength
        }

        /// `nil` for an address with no network around it.
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

    /// The first hop has answered at some time, and has not failed since; or needs no asking.
    package var hasConfirmedNeighbour: Bool {
        guard let neighbour else { return true }
        switch neighbour {
        case .reachable, .stale, .delay, .probe, .noarp, .permanent: return true
        case .none, .incomplete, .failed: return false
        }
    }
}
