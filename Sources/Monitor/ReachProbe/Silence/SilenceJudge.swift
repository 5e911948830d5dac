internal import ReachCore
internal import ReachKernel

/// Decides whether the sockets on a path are reason to test it. A pure function.
///
/// What counts are transmissions that nothing answered since *any* socket of the path last received something, so one
/// dead server among many is no reason, and loss at random is one only when it hits several transmissions in a row. One
/// remote address is enough: all traffic may go to one server. Even then it is no proof: a server may be dead, and any
/// user can make sockets that send to addresses where no one answers.
enum SilenceJudge {
    /// Why a path should be tested.
    struct Suspicion: Hashable {
        var transmissions: Int
        var destinations: Int
        /// The age of the earliest of these transmissions.
        var duration: Duration
        /// The users whose sockets are the reason.
        var users: Set<UInt32>
        /// The longest smoothed round-trip time of these sockets.
        var roundTrip: Duration
    }

    /// The least number of transmissions without an answer, original ones and repetitions.
    static let leastTransmissions = 4
    /// The least age of the earliest of them.
    static let leastDuration: Duration = .seconds(1)
    /// Earlier transmissions are not counted.
    static let window: Duration = .seconds(60)

    /// - Parameters:
    ///   - ignored: Users whose sockets do not count, since they were a reason recently and the path turned out to
    ///     work.
    ///   - roundTrip: The path's round-trip time; zero if it is not known.
    static func suspicion(
        in sample: SilenceSample, ignoring ignored: Set<UInt32> = [], roundTrip: Duration = .zero
    ) -> Suspicion? {
        let window = min(sample.sinceReceived ?? window, window)
        guard window >= leastDuration else { return nil }
        var found = Suspicion(transmissions: 0, destinations: 0, duration: .zero, users: [], roundTrip: .zero)
        var destinations: Set<IPAddress> = []
        for socket in sample.stalled where !ignored.contains(socket.user) {
            let ages = socket.unanswered(within: window, on: roundTrip)
            guard let oldest = ages.last else { continue }
            found.transmissions += ages.count
            found.duration = max(found.duration, oldest)
            found.users.insert(socket.user)
            found.roundTrip = max(found.roundTrip, socket.roundTrip)
            destinations.insert(socket.remote)
        }
        found.destinations = destinations.count
        return found.transmissions >= leastTransmissions && found.duration >= leastDuration ? found : nil
    }
}
