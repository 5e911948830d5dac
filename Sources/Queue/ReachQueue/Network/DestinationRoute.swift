/// How the kernel sends to one destination: by routes of its own, by the default routes, or not at all.
package struct DestinationRoute: Hashable, Sendable {
    package let destination: Destination
    /// The paths by routes that are more specific than a default route, to any of its addresses. What has one goes by no
    /// default route, unless another of its addresses does.
    package var own: [QueuePath]
    /// Whether any of its addresses is reached by the default routes.
    package var isByDefault: Bool

    package init(_ destination: Destination, own: [QueuePath] = [], isByDefault: Bool = true) {
        self.destination = destination
        self.own = own
        self.isByDefault = isByDefault
    }
}

extension RequestGroup.Key {
    /// The best path to a destination among those by its own routes, else among the default routes.
    func verdict(on route: DestinationRoute, _ defaults: [QueuePath]) -> ConditionVerdict {
        let others = route.isByDefault ? defaults : []
        guard !route.own.isEmpty else { return verdict(on: others) }
        let own = verdict(on: route.own)
        guard own.path == nil else { return own }
        let byDefault = verdict(on: others)
        return byDefault.path == nil ? own : byDefault
    }
}
