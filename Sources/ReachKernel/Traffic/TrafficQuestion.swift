package import ReachCore

/// Whether anything came in lately on a TCP socket that uses a path.
package struct TrafficQuestion: Hashable, Sendable {
    /// The far end of a connection.
    package struct Remote: Hashable, Sendable {
        package let address: IPAddress
        package let port: UInt16

        package init(address: IPAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    package var family: IPAddress.Family
    /// Addresses of this machine that are on the path; others' sockets do not count.
    package var sources: [IPAddress]
    /// Far ends that are not beyond the path's gateway, or prove nothing.
    package var excludedPrefixes: [IPPrefix]
    /// Far ends to leave out, one by one: those of one's own attempts.
    package var excludedRemotes: Set<Remote>
    /// So recently.
    package var window: Duration

    package init(
        family: IPAddress.Family, sources: [IPAddress], excludedPrefixes: [IPPrefix] = [],
        excludedRemotes: Set<Remote> = [], window: Duration
    ) {
        self.family = family
        self.sources = sources
        self.excludedPrefixes = excludedPrefixes
        self.excludedRemotes = excludedRemotes
        self.window = window
    }
}

/// What was found of a ``TrafficQuestion``.
package enum TrafficAnswer: Hashable, Sendable {
    /// A socket that moved bytes both ways received something.
    case moving
    /// None did.
    case still
    /// There are too many sockets to look at each, and none of those that were.
    case tooMany
    /// The kernel cannot tell: it lacks the modules (tcp_diag), or does not let this process ask.
    case notAsked
}
