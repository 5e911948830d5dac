internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTransfer

/// The transfer engine that probes and connectivity checks share. Confined to the loop.
///
/// The engine is created at the first transfer, so a daemon that sends nothing has none. The queue has an engine of its
/// own, whose transfers may outlive a network change.
final class SharedTransfers {
    private let loop: EventLoop
    private var created: TransferEngine?
    /// Chooses the interface for queries to a name server, of probes and checks that are bound to an interface.
    var serverRoute: NameService.ServerRoute?

    init(loop: EventLoop) { self.loop = loop }

    /// - Throws: If libcurl is not available.
    func engine() throws(TransferFailure) -> TransferEngine {
        if let created { return created }
        let engine = try TransferEngine(loop: loop)
        engine.resolver.route = serverRoute
        created = engine
        return engine
    }

    /// Discards open connections and resolved names after a network change.
    func newEpoch() { created?.newEpoch() }
}

/// What knows how the kernel would send: an engine, or a snapshot where no engine runs.
protocol RouteSource {
    func isMetered(_ interface: String) -> Bool
    /// The link that a name or an alternative name means; `nil` if there is none.
    func link(named name: String) -> Link?
    /// How the kernel would send to each of these addresses now, in their order; `nil` while that is not known.
    func routes(to addresses: [RoutedAddress]) -> [AddressRoute]?
}

extension RouteSource {
    /// What sockets are bound to for an interface that somebody names: by the name itself where there is no such link.
    func binding(_ name: String) -> InterfaceBinding {
        guard let link = link(named: name) else { return InterfaceBinding(name: name) }
        return InterfaceBinding(name: link.name, index: UInt32(bitPattern: link.index))
    }

    /// The interface for queries to a name server, of a question that is bound to an interface: see
    /// ``NameServerRoute``.
    func interface(
        for server: ResolverConfiguration.Server, boundTo bound: InterfaceBinding
    ) throws(SystemError) -> InterfaceBinding? {
        try NameServerRoute(to: server, boundTo: bound, isMetered: isMetered(bound.name), routes: routes).interface()
    }
}

extension ReachabilityEngine: RouteSource {}

extension KernelSnapshot: RouteSource {}
