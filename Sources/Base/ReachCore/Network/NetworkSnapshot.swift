/// The network at one moment, as the kernel's tables show it. The engine determines it once for each change, and all
/// parts read the same one.
package struct NetworkSnapshot: Hashable, Sendable {
    /// The verdict on the Internet.
    package let internet: Verdict
    /// The Internet's epoch: the number of changes of the interfaces, sources or gateways that the kernel prefers.
    package let epoch: UInt64
    /// The default routes: IPv4 before IPv6, in each family the preferred one first, then by interface index.
    package let routes: [DefaultRoute]
    /// The links that can carry packets and have an address, whether or not a default route goes by them: in ascending
    /// order, and only the first few where there are many.
    package let links: [InterfaceIndex]

    /// This machine's addresses, of all links, but for those that have no meaning beyond a site.
    package let ownAddresses: Set<IPAddress>

    /// The names of the tunnels into which the kernel sends to the Internet, whether or not they work. Nothing is sent
    /// past them.
    package var tunnels: [String] {
        var names: [String] = []
        for path in [internet.ipv4, internet.ipv6] where path.traits.isTunnelled {
            if let name = path.interface, !names.contains(name) { names.append(name) }
        }
        return names
    }

    package init(
        internet: Verdict, epoch: UInt64, routes: [DefaultRoute], links: [InterfaceIndex] = [],
        ownAddresses: Set<IPAddress> = []
    ) {
        self.ownAddresses = ownAddresses
        self.internet = internet
        self.epoch = epoch
        self.routes = routes
        self.links = links
    }
}
