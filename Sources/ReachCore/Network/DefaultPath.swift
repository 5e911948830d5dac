/// An interface over which the Internet may be reachable for sockets bound to it.
///
/// The interface is usable, has an address to send from and a route to at least half of the reference addresses. There may
/// be several such interfaces; the kernel prefers one of them.
package struct DefaultPath: Hashable, Sendable {
    package let interface: InterfaceIndex
    package var name: String
    package var linkClass: LinkClass
    /// The class of the lowest link that carries a tunnel; `nil` for all other classes, and if it is not known.
    package var carrierClass: LinkClass?
    package var isMetered: Bool
    /// The families in which the interface has such a route.
    package var families: Set<IPAddress.Family> = []
    /// The lowest metric of these routes; lower is preferred.
    package var metric: UInt32 = .max
    /// The usable source addresses of those families.
    package var sources: Set<IPAddress> = []
    /// The gateways of these routes.
    package var gateways: Set<IPAddress> = []

    package init(interface: InterfaceIndex, name: String, linkClass: LinkClass, isMetered: Bool) {
        self.interface = interface
        self.name = name
        self.linkClass = linkClass
        self.isMetered = isMetered
    }
}
