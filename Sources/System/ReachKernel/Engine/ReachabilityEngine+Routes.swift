package import ReachCore

/// The programs that look routes to some addresses up by themselves, and when to do it again.
struct RouteWatches {
    private var watches: [UInt64: (addresses: Set<IPAddress>, handler: () -> Void)] = [:]
    /// Increases before a change is evaluated: see ``ReachabilityEngine/reportsRoutes(to:)``.
    private(set) var version: UInt64 = 0

    var isEmpty: Bool { watches.isEmpty }
    var addresses: Set<IPAddress> { watches.values.reduce(into: []) { $0.formUnion($1.addresses) } }
    var numbers: [UInt64] { Array(watches.keys) }

    mutating func noteChange() { version += 1 }

    mutating func add(_ id: UInt64, _ addresses: Set<IPAddress>, _ handler: @escaping () -> Void) {
        watches[id] = (addresses, handler)
    }

    /// - Returns: Whether it was there.
    mutating func remove(_ id: UInt64) -> Bool { watches.removeValue(forKey: id) != nil }

    /// What to call of a watch, unless it has ended.
    func handler(of id: UInt64) -> (() -> Void)? { watches[id]?.handler }
}

extension ReachabilityEngine {
    /// How the kernel would send to each of these addresses now, in their order.
    ///
    /// - Returns: `nil` while the kernel cannot be observed, and before the first evaluation.
    package func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? {
        guard observationError == nil, let view = observer?.view, let internet = internet.verdict else { return nil }
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

    /// The number of changes so far, counted before they are evaluated: see ``reportsRoutes(to:)``.
    package var routesVersion: UInt64 { routeWatches.version }

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
        let id = watches.newNumber()
        routeWatches.add(id, addresses, handler)
        updateTargets()
        return id
    }

    /// A neighbour or a name that differs changes no route.
    func announceRoutes(after effects: [NetworkTable.Effect]) {
        guard !routeWatches.isEmpty, effects.contains(where: { ![.neighbour, .name].contains($0.cause) }) else {
            return
        }
        for id in routeWatches.numbers { routeWatches.handler(of: id)?() }
    }
}
