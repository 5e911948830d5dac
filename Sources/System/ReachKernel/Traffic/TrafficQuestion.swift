package import ReachCore

/// The question whether a TCP socket on a path has received something recently.
package struct TrafficQuestion: Hashable, Sendable {
    /// The remote end of a connection.
    package struct Remote: Hashable, Sendable {
        package let address: IPAddress
        package let port: UInt16

        package init(address: IPAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    package var family: IPAddress.Family
    /// This machine's addresses on the path. Sockets with other local addresses do not count.
    package var sources: [IPAddress]
    /// Remote addresses that are not beyond the path's gateway, or prove nothing.
    package var excludedPrefixes: [IPPrefix]
    /// This machine's addresses: with those of other links, too, any user can talk to itself.
    package var own: OwnAddresses
    /// Single remote ends to exclude, such as those of the caller's own attempts.
    package var excludedRemotes: Set<Remote>
    /// The time before now that counts as recent.
    package var window: Duration

    package init(
        family: IPAddress.Family, sources: [IPAddress], excludedPrefixes: [IPPrefix] = [],
        own: OwnAddresses = OwnAddresses(), excludedRemotes: Set<Remote> = [], window: Duration
    ) {
        self.own = own
        self.family = family
        self.sources = sources
        self.excludedPrefixes = excludedPrefixes
        self.excludedRemotes = excludedRemotes
        self.window = window
    }
}

/// The answer to a ``TrafficQuestion``.
package enum TrafficAnswer: Hashable, Sendable {
    /// A socket that has transferred bytes in both directions received something recently.
    case moving
    /// No socket did.
    case still
    /// There are too many sockets to check each, and none of those checked did.
    case tooMany
    /// The query failed: the kernel lacks the modules (tcp_diag), or does not allow this process to ask.
    case notAsked
}
