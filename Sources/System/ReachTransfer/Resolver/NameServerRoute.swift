internal import Glibc
package import ReachCore
package import ReachLoop

/// Which interface carries a query to a name server, for a question that is bound to an interface: a value.
///
/// A name server may be in a container, on a second link, behind a tunnel, or known to one router alone. Bound to the
/// interface of the question, a query never reaches such a server, and the network behind the interface would seem to
/// have no names. So the query follows the server's own route, unless the question's interface has one, too: two links
/// may each have a server of this address.
package struct NameServerRoute {
    private let bound: InterfaceBinding
    private let isMetered: Bool
    /// The kernel's own choice, and its choice over the question's interface; `nil` while they are not known.
    private let routes: (chosen: AddressRoute, overBound: AddressRoute)?

    /// - Parameters:
    ///   - bound: The interface of the question.
    ///   - isMetered: Whether that interface is metered.
    ///   - routes: Asks the kernel how it sends to each of these addresses.
    package init(
        to server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding, isMetered: Bool,
        routes: ([RoutedAddress]) -> [AddressRoute]?
    ) {
        (self.bound, self.isMetered) = (bound, isMetered)
        let found = routes([
            RoutedAddress(server.address, zone: server.zone, flow: .udp(server.port)),
            RoutedAddress(server.address, zone: server.zone ?? bound.name, flow: .udp(server.port)),
        ])
        self.routes = found.flatMap { $0.count == 2 ? ($0[0], $0[1]) : nil }
    }

    /// The interface to bind to; `nil` for a server on this machine, which routing finds. No metered interface carries
    /// what is for an unmetered one.
    ///
    /// - Throws: Where the server has a route that cannot be used.
    package func interface() throws(SystemError) -> InterfaceBinding? {
        guard let routes else { return bound }
        switch routes.chosen {
        case .byDefault: return bound
        case .local: return nil
        case .own(let host):
            if case .own(let other) = routes.overBound, other.name == bound.name { return bound }
            guard isMetered || !host.traits.isMetered else { return bound }
            return InterfaceBinding(name: host.name, index: UInt32(bitPattern: host.interface))
        case .none: throw SystemError(call: "route", number: ENETUNREACH)
        }
    }
}
