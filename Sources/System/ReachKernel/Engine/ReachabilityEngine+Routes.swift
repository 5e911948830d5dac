package import ReachCore

/// A program that looks routes to some addresses up by itself, and when to do it again.
struct RouteWatch {
    let addresses: Set<IPAddress>
    let handler: () -> Void
}

extension ReachabilityEngine {
    /// How the kernel would send to each of these addresses now, in their order.
    ///
    /// - Returns: `nil` while the kernel cannot be observed, and before the first evaluation.
    package func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? {
        guard observationError == nil, let view = observer?.view, let internet else { return nil }
        do throws(NetlinkError) {
            return try PathFinder(view: view, mark: options.mark).routes(to: addresses, internet: internet)
        } catch {
            observer?.recover(from: error)
            return nil
        }
    }

    /// The link that a name or an alternative name means; `nil` if there is none, or the kernel cannot be asked.
    package func link(named name: String) -> Link? { (try? observer?.view?.link(named: name)) ?? nil }

    /// Whether an interface is metered; `false` if there is no such interface.
    package func isMetered(_ interface: String) -> Bool { observer?.view?.isMetered(interface) ?? false }

    /// Whether each change by which routes to these addresses may differ raises ``routesVersion``, beginning with the
    /// next one. It does for addresses that are watched, as long as the kernel sends notices.
    package func reportsRoutes(to addresses: [IPAddress]) -> Bool {
        guard observationError == nil, let observer, observer.isNotified else { return false }
        return addresses.allSatisfy(observer.targets.contains)
    }

    /// Calls `handler` after each change of the network by which routes to these addresses may differ. It costs no
    /// lookup: the handler decides when to call ``routes(to:)``. It may not be called for changes of routes to other
    /// addresses.
    ///
    /// - Returns: The number of the watch, for ``unwatch(_:)``.
    package func watchRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> UInt64 {
        lastID += 1
        routeWatches[lastID] = RouteWatch(addresses: addresses, handler: handler)
        updateTargets()
        return lastID
    }

    /// A neighbour or a name that differs changes no route.
    func announceRoutes(after effects: [NetworkTable.Effect]) {
        guard !routeWatches.isEmpty, effects.contains(where: { ![.neighbour, .name].contains($0.cause) }) else {
            return
        }
        for (id, watch) in routeWatches where routeWatches[id] != nil { watch.handler() }
    }
}
