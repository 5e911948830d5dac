package import ReachCore
package import ReachKernel

/// A path that a ``SilenceMachine`` watches.
package struct SilencePath: Hashable, Sendable {
    package enum State: Hashable, Sendable {
        /// Checks have proved that it works.
        case working
        /// It was found silent, and no check has proved since that it works.
        case silent
    }

    package var route: DefaultRoute
    package var state: State
    /// Servers that recently answered a check of this path.
    package var servers: [TrafficQuestion.Remote]
    /// The round-trip time that the last check measured; zero if it is not known. New connections have none of their
    /// own.
    package var roundTrip: Duration
    /// When the byte budget of a metered link allows a test.
    package var allowed: BootTime

    package init(
        _ route: DefaultRoute, _ state: State, servers: [TrafficQuestion.Remote], roundTrip: Duration = .zero,
        allowed: BootTime
    ) {
        self.roundTrip = roundTrip
        self.route = route
        self.state = state
        self.servers = servers
        self.allowed = allowed
    }

    /// Whether the first hop shows by itself whether packets are sent to it. If not, no notice says that traffic
    /// begins.
    var hasSpeakingNeighbour: Bool {
        switch route.neighbour {
        case nil, .noarp, .permanent: false
        default: true
        }
    }

    /// Whether packets were sent to the first hop recently.
    ///
    /// The kernel sends a notice when it confirms the entry of a gateway that is in use, and one when the entry has not
    /// been used for 15 to 45 seconds and becomes stale (`neigh_timer_handler`, base_reachable_time of arp(7)). So
    /// without traffic no timer runs.
    var usesNeighbour: Bool {
        switch route.neighbour {
        case .reachable, .delay, .probe: true
        default: false
        }
    }
}

/// What the last checks that proved a path show.
package struct ProvenServers: Hashable, Sendable {
    /// The servers that answered, the latest first.
    package var remotes: [TrafficQuestion.Remote] = []
    /// The shortest time in which one of them answered the first packet; zero if it is not known.
    package var roundTrip: Duration = .zero

    package init(remotes: [TrafficQuestion.Remote] = [], roundTrip: Duration = .zero) {
        (self.remotes, self.roundTrip) = (remotes, roundTrip)
    }
}

/// A command of a ``SilenceMachine``.
package enum SilenceCommand: Hashable, Sendable {
    package typealias Ticket = UInt64

    /// Read the counters of TCP, and answer at once.
    case readCounters
    /// Look at the sockets on the path. No packet is sent.
    case survey(DefaultRoute, hearing: Duration, Ticket)
    /// Begin to connect to these servers by the path, one after the other, until one answers or the time is over.
    case test(DefaultRoute, [TrafficQuestion.Remote], most: Int, within: Duration, Ticket)
    /// Abandon the test with this ticket.
    case cancel(Ticket)
    /// The path is silent.
    case close(DefaultRoute.Key, SilenceEvidence)
    /// A server answered by a path that was silent: check the path.
    case check(DefaultRoute.Key)
    /// The kernel does not show sockets or counters, so nothing is watched from now on.
    case giveUp
}

/// What a test found.
package struct SilenceTestResult: Hashable, Sendable {
    /// Whether a server answered, be it with a refusal.
    package var isAnswered: Bool
    /// The connections that were begun.
    package var handshakes: Int
}
