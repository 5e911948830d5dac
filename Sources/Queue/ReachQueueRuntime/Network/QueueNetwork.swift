package import ReachCore
package import ReachKernel
package import ReachQueue

/// The network as the queue sees it. Confined to the loop, on which the handlers are called.
package protocol QueueNetwork: AnyObject {
    /// Calls `handler` with the network, once it is determined, and with every change; with `nil` while the kernel
    /// cannot be observed.
    ///
    /// - Returns: Ends the calls.
    func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void

    /// Calls `handler` with the events of a target, of which the first state is one.
    ///
    /// - Parameter owner: The user whose request waits for it; `nil` for this program.
    /// - Returns: Ends the calls.
    func follow(_ target: Target, for owner: UInt32?, _ handler: @escaping (TargetEvent) -> Void) -> () -> Void

    /// How the kernel would send to each of these addresses now, in their order; `nil` while that is not known.
    func routes(to addresses: [RoutedAddress]) -> [AddressRoute]?

    /// Goes up with each change by which answers of ``routes(to:)`` may differ, before anything else is told of it.
    var routesVersion: UInt64 { get }

    /// Whether all changes of routes to these addresses raise ``routesVersion``.
    func reportsRoutes(to addresses: [IPAddress]) -> Bool

    /// Calls `handler` after each change of the network by which routes to these addresses may differ.
    ///
    /// - Returns: Ends the calls.
    func followRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> () -> Void

    /// Finds out, until the returned closure is called, whether gateways that did not answer are back: something waits
    /// for a path.
    func seekPath() -> () -> Void
}

extension QueueNetwork {
    // Without these, an answer holds for one turn of the loop.
    package var routesVersion: UInt64 { 0 }
    package func reportsRoutes(to addresses: [IPAddress]) -> Bool { false }

    package func seekPath() -> () -> Void { {} }

    package func follow(_ target: Target, _ handler: @escaping (TargetEvent) -> Void) -> () -> Void {
        follow(target, for: nil, handler)
    }
}

extension ReachabilityEngine: QueueNetwork {
    package func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void {
        let id = watchNetwork(handler)
        return { [weak self] in self?.unwatch(id) }
    }

    package func follow(
        _ target: Target, for owner: UInt32?, _ handler: @escaping (TargetEvent) -> Void
    ) -> () -> Void {
        let id = watch(target, for: owner, handler)
        return { [weak self] in self?.unwatch(id) }
    }

    package func followRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> () -> Void {
        let id = watchRoutes(to: addresses, handler)
        return { [weak self] in self?.unwatch(id) }
    }

    package func seekPath() -> () -> Void {
        let id = askNeighbours()
        return { [weak self] in self?.unwatch(id) }
    }
}

/// Finds out whether a path works, by sending something over it. Confined to the loop.
package protocol PathChecker: AnyObject {
    /// - Parameter reply: Called once, on the loop, after this returns; with `nil` if the check proved nothing.
    func check(_ path: QueuePath, reply: @escaping (Bool?) -> Void)
}
