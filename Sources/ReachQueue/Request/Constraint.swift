package import ReachCore

/// What the network must be like for a request to be sent: all of its terms hold for one path.
package struct Constraint: Hashable, Sendable {
    /// The class of what carries the path, below tunnels too.
    package var linkClass: LinkClass?
    /// Classes it must not be carried by.
    package var excludedClasses: Set<LinkClass> = []
    package var isUnmetered = false
    /// Probes have proved the Internet behind it (connectivity `full`).
    package var isValidated = false
    /// The request's own host is reachable, as ``ReachabilityStatus`` has it; the path is then the one to that host.
    package var isTargetReachable = false
    package var interface: String?
    package var family: IPAddress.Family?

    package init() {}

    /// Any path with a default route.
    package static let any = Constraint()

    /// AFNetworking's "reachable via Wi-Fi" is everything that is not a modem.
    package static let viaWiFi: Constraint = {
        var constraint = Constraint()
        constraint.excludedClasses = [.wwan]
        return constraint
    }()
}
