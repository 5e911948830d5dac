internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTransfer

/// What knows how the kernel would send: an engine, or a snapshot where no engine runs.
protocol RouteSource {
    func isMetered(_ interface: String) -> Bool
    /// How the kernel would send to each of these addresses now, in their order; `nil` while that is not known.
    func routes(to addresses: [RoutedAddress]) -> [AddressRoute]?
}

extension RouteSource {
    /// The interface for queries to a name server, of a question that is bound to an interface: see ``NameServerRoute``.
    func interface(
        for server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding
    ) throws(SystemError) -> InterfaceBinding? {
        try NameServerRoute(to: server, boundTo: bound, isMetered: isMetered(bound.name), routes: routes).interface()
    }
}

extension ReachabilityEngine: RouteSource {}

extension KernelSnapshot: RouteSource {}
