/// An interface over which packets can reach a target.
public struct AvailableInterface: Hashable, Sendable {
    /// The interface's name.
    public let name: String
    /// The interface's index in the kernel.
    public let index: InterfaceIndex
    /// The class of the link.
    public let linkClass: LinkClass
    /// The class of the link that carries a tunnel; `nil` if that is unknown, and for all other classes.
    public let carrierClass: LinkClass?
    /// Whether using it costs money or is limited by volume.
    public let isMetered: Bool
    /// The families in which packets can leave over it.
    public let families: Set<IPAddress.Family>
    /// The first hops, IPv4 before IPv6; none if the target is on the link itself, and on point-to-point links.
    public let gateways: [IPAddress]

    /// Whether its class, or that of the link below a tunnel, is this one.
    public func uses(_ wanted: LinkClass) -> Bool { linkClass == wanted || carrierClass == wanted }

    /// - Parameter routes: The routes over one interface, IPv4 before IPv6; at least one.
    fileprivate init(_ routes: [DefaultRoute]) {
        name = routes[0].name
        index = routes[0].key.interface
        linkClass = routes[0].traits.linkClass ?? .other
        carrierClass = routes[0].traits.carrierClass
        isMetered = routes.contains(where: \.traits.isMetered)
        families = Set(routes.map(\.key.family))
        gateways = routes.compactMap(\.gateway)
    }
}

extension AvailableInterface {
    /// The interfaces of these routes, in the order of preference: those of `first`, then by metric, then by index.
    static func list(_ routes: [DefaultRoute], first: [InterfaceIndex?]) -> [AvailableInterface] {
        let byInterface = Dictionary(grouping: routes, by: \.key.interface)
        let ranks = byInterface.mapValues { own -> (place: Int, metric: UInt32, index: InterfaceIndex) in
            let index = own[0].key.interface
            return (first.firstIndex(of: index) ?? first.count, own.map(\.metric).min() ?? 0, index)
        }
        return ranks.values.sorted { $0 < $1 }.compactMap { rank in
            byInterface[rank.index].map { own in
                AvailableInterface(own.sorted { $0.key.family.rawValue < $1.key.family.rawValue })
            }
        }
    }
}
