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

    package var sockets: PathSockets
    /// Single remote ends to exclude, such as those of the caller's own attempts.
    package var excludedRemotes: Set<Remote>
    /// The time before now that counts as recent.
    package var window: Duration

    package init(_ sockets: PathSockets, excludedRemotes: Set<Remote> = [], window: Duration) {
        self.sockets = sockets
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
