package import ReachCore

/// How long checks of paths may take: a value.
///
/// The configured time is enough for usual lines. A path over satellites, or behind a full buffer, may take seconds for
/// each round trip, and is no worse for that: so a check may take as long as the exchanges of a request do by the round
/// trips that its own connections, those of other programs, or questions to name servers needed.
package struct CheckPatience {
    /// A name, a connection, TLS in two steps, and the request; the rest is for round trips that take longer than
    /// others.
    static let roundTrips = 8
    /// The longest time that is allowed for slow round trips.
    static let longest: Duration = .seconds(30)
    private static let pathLimit = 64

    private var known: [DefaultRoute.Key: (route: DefaultRoute, roundTrip: Duration)] = [:]

    package init() {}

    /// Notes the round-trip time of a path as it was last measured; `nil` changes nothing.
    package mutating func note(_ roundTrip: Duration?, of route: DefaultRoute) {
        guard let roundTrip, roundTrip > .zero else { return }
        if known[route.key] == nil, known.count >= Self.pathLimit { known = [:] }
        known[route.key] = (route, roundTrip)
    }

    /// Notes a round-trip time that may be longer than the path's, or not of the path alone: no known one gets shorter
    /// by it.
    package mutating func extend(to roundTrip: Duration?, of route: DefaultRoute) {
        guard let roundTrip,
            known[route.key].map({ !$0.route.leadsToSameNetwork(as: route) || $0.roundTrip < roundTrip }) ?? true
        else { return }
        note(roundTrip, of: route)
    }

    /// The time for a check of a path.
    ///
    /// - Parameter least: The configured time.
    package func limit(for route: DefaultRoute, least: Duration) -> Duration {
        guard let entry = known[route.key], entry.route.leadsToSameNetwork(as: route) else { return least }
        return Self.limit(entry.roundTrip, least)
    }

    /// The longest time that a check of any path may take.
    package func longestLimit(least: Duration) -> Duration {
        known.values.map { Self.limit($0.roundTrip, least) }.max() ?? least
    }

    private static func limit(_ roundTrip: Duration, _ least: Duration) -> Duration {
        max(least, min(roundTrip * roundTrips, longest))
    }
}
