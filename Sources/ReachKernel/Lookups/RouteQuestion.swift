package import ReachCore

/// A lookup: which way would a packet go? No packet is sent.
package struct RouteQuestion: Hashable, Sendable {
    package var destination: IPAddress
    /// Only by this interface. In IPv4 such a lookup never fails, unless ``matchesTable`` is set.
    package var interface: InterfaceIndex?
    /// From this address: IPv6 routes may be for some sources only.
    package var source: IPAddress?
    package var mark: UInt32?
    /// The route itself rather than the way: it has the metric and all the hops (RTM_F_FIB_MATCH, Linux 4.13).
    package var matchesTable: Bool

    package init(
        _ destination: IPAddress, interface: InterfaceIndex? = nil, source: IPAddress? = nil, mark: UInt32? = nil,
        matchesTable: Bool = false
    ) {
        self.destination = destination
        self.interface = interface
        self.source = source
        self.mark = mark
        self.matchesTable = matchesTable
    }
}
