package import ReachCore

/// A TCP socket whose data, or SYN, was sent again after a timeout and is still not acknowledged.
package struct StalledSocket: Hashable, Sendable {
    package let remote: IPAddress
    /// The user who owns the socket.
    package let user: UInt32
    /// Retransmission timeouts in a row.
    package let repetitions: Int
    /// How often the timeout was doubled.
    package let doublings: Int
    /// The current retransmission timeout.
    package let timeout: Duration
    /// The time until the next repetition.
    package let untilNext: Duration
    /// The smoothed round-trip time; zero if none was measured.
    package let roundTrip: Duration

    /// The least time in which an answer is expected: more than the usual delayed acknowledgement of 40 ms.
    private static let leastPatience: Duration = .milliseconds(200)
    /// More transmissions than the kernel makes before it gives up (tcp_retries2 is 15).
    private static let mostRepetitions = 32

    /// The ages of the transmissions within a window that should have been answered by now, the latest first.
    ///
    /// The timer shows when the last one was made. Before that, each wait was half as long as the one after it
    /// (`tcp_retransmit_timer` doubles the timeout), except for those that were not doubled. Tail loss probes are not
    /// counted.
    ///
    /// - Parameter path: The round-trip time of the path, for a socket that has not measured one; zero if it is not
    ///   known.
    package func unanswered(within window: Duration, on path: Duration = .zero) -> [Duration] {
        let patience = max(Self.leastPatience, roundTrip == .zero ? max(timeout / 2, path * 2) : roundTrip * 2)
        var age = max(.zero, timeout - untilNext)
        var ages: [Duration] = []
        for number in 0...min(repetitions, Self.mostRepetitions) {
            if age > window { break }
            if age >= patience { ages.append(age) }
            age += timeout / (1 << min(number + 1, doublings))
        }
        return ages
    }
}
