internal import ReachCore

/// States of the Internet for these tests.
enum Sample {
    static func unknown() -> ReachabilityState {
        ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
    }

    /// - Parameter link: The link by which IPv4 leaves.
    static func reachable(
        by link: NetworkPath = path("eth0", 2, .wired), _ connectivity: Connectivity = .full, isValidated: Bool = true
    ) -> ReachabilityState {
        var state = unknown()
        state.status = .reachable
        state.ipv4 = link
        state.ipv6 = NetworkPath(status: .notReachable, reason: .noRoute)
        (state.interface, state.linkClass) = (link.interface, link.linkClass)
        (state.connectivity, state.isValidated) = (connectivity, isValidated)
        return state
    }

    static func lost(_ cause: RootCause.Kind?) -> ReachabilityState {
        var state = unknown()
        (state.status, state.reason) = (.notReachable, .noRoute)
        state.rootCause = cause.map { RootCause($0) }
        return state
    }

    static func path(_ name: String, _ index: InterfaceIndex, _ linkClass: LinkClass) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.linkClass) = (name, index, linkClass)
        return path
    }
}
