package import ReachCore

/// How the kernel sends to one destination: by routes of its own, by the default routes, or not at all.
package struct DestinationRoute: Hashable, Sendable {
    package let destination: Destination
    /// The paths by routes that are more specific than a default route, to any of its addresses. What has one goes by
    /// no default route, unless another of its addresses does.
    package var own: [QueuePath]
    /// The families in which any of its addresses is reached by the default routes.
    package var defaultFamilies: Set<IPAddress.Family>

    package init(
        _ destination: Destination, own: [QueuePath] = [], defaultFamilies: Set<IPAddress.Family> = [.ipv4, .ipv6]
    ) {
        self.destination = destination
        self.own = own
        self.defaultFamilies = defaultFamilies
    }

    package var isByDefault: Bool { !defaultFamilies.isEmpty }

    /// Those of the default routes that lead to it, each with the families in which it does.
    package func defaults(among paths: [QueuePath]) -> [QueuePath] {
        guard defaultFamilies.count < 2 else { return paths }
        return paths.compactMap { path in
            var path = path
            path.families.formIntersection(defaultFamilies)
            return path.families.isEmpty ? nil : path
        }
    }

    /// Whether its requests cannot start and wait with those of all other destinations.
    ///
    /// - Parameter paths: The default routes.
    package func needsOwnGroup(besides paths: [QueuePath]) -> Bool {
        !own.isEmpty || isByDefault && !paths.isEmpty && defaults(among: paths).isEmpty
    }
}

extension RequestGroup.Key {
    /// The best path to a destination among those by its own routes, else among the default routes.
    func verdict(on route: DestinationRoute, _ defaults: [QueuePath]) -> ConditionVerdict {
        let others = route.defaults(among: defaults)
        guard !route.own.isEmpty else { return verdict(on: others) }
        let own = verdict(on: route.own)
        guard own.path == nil else { return own }
        let byDefault = verdict(on: others)
        return byDefault.path == nil ? own : byDefault
    }
}
