/// An interface by which the Internet may be reached if one binds to it: up, with an address to send from and a route for
/// most of the addresses that stand for the Internet. There may be several; the kernel prefers one of them.
package struct DefaultPath: Hashable, Sendable {
    package let interface: InterfaceIndex
    package var name: String
    package var linkClass: LinkClass
    /// What carries a tunnel at the bottom; `nil` for all other classes, and where it is not known.
    package var carrierClass: LinkClass?
    package var isMetered: Bool
    /// In which such a route goes by it.
    package var families: Set<IPAddress.Family> = []
    /// The lowest of its routes: the lower is preferred.
    package var metric: UInt32 = .max
    /// The addresses of those families that may be sent from.
    package var sources: Set<IPAddress> = []
    /// The first hops.
    package var gateways: Set<IPAddress> = []

    package init(interface: InterfaceIndex, name: String, linkClass: LinkClass, isMetered: Bool) {
        self.interface = interface
        self.name = name
        self.linkClass = linkClass
        self.isMetered = isMetered
    }
}
