/// The links that appeared while the kernel was observed and that can have no part in a path yet: no address but
/// link-local ones, and no route of which the observer was notified. A thousand new containers bring such links.
///
/// A tunnel always counts. It may need no address, and the routes by which it carries the names of an intranet are not
/// reported as long as no one watches an address there.
///
/// What happens to such a link is folded into the ``NetworkTable``, and nothing has to be queried or judged again.
/// Apply it to each notice, in the order of their arrival, since a later route or address makes the link count. After
/// lost notices, and when routes that were not reported may matter, begin with an empty value.
package struct IdleLinks: Hashable, Sendable {
    private var links: Set<InterfaceIndex> = []

    package init() {}

    /// Whether a notice concerns idle links only. Otherwise it counts.
    ///
    /// - Parameters:
    ///   - table: The table before the notice.
    ///   - carrying: The links that carry paths, and all below them; `nil` if every link counts. It is asked only if
    ///     the notice concerns an idle link.
    package mutating func folds(
        _ notice: Notice, in table: NetworkTable, carrying: () -> Set<InterfaceIndex>?
    ) -> Bool {
        switch notice {
        case .link(let link):
            let earlier = table.links[link.index]
            if earlier == nil, LinkClassifier.kind(byNetlinkOf: link) != .tunnel { links.insert(link.index) }
            return isIdle(link.index, besides: [earlier?.controller, link.controller], carrying)
        case .linkRemoved(let index):
            let isFolded = isIdle(index, besides: [table.links[index]?.controller], carrying)
            links.remove(index)
            return isFolded
        case .address(let address), .addressRemoved(let address):
            if address.address.isLinkLocal { return isIdle(address.interface, carrying) }
            links.remove(address.interface)
            return false
        case .route(let route, _), .routeRemoved(let route):
            // A route that names a nexthop object only does not say which links it uses.
            if route.hops.isEmpty { links = [] } else { links.subtract(route.hops.compactMap(\.interface)) }
            return false
        case .nexthop, .nexthopRemoved:
            links = []
            return false
        case .setting(_, let interface):
            // The kernel announces the settings of a new link before the link.
            guard let interface, interface > 0 else { return false }
            return table.links[interface] == nil ? carrying() != nil : isIdle(interface, carrying)
        case .neighbour, .neighbourRemoved, .rule, .ruleRemoved, .portal: return false
        }
    }

    /// - Parameter others: The links of which the link is, or was, a port.
    private func isIdle(
        _ index: InterfaceIndex, besides others: [InterfaceIndex?] = [], _ carrying: () -> Set<InterfaceIndex>?
    ) -> Bool {
        guard links.contains(index), let carrying = carrying(), !carrying.contains(index) else { return false }
        return !others.contains { $0.map(carrying.contains) ?? false }
    }
}
