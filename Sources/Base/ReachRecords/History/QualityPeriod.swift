internal import ReachCore

/// What was measured of one line over some minutes, for the history.
package struct QualityPeriod: Hashable, Sendable {
    package var interface: String
    package var length: Duration
    /// The packets that were sent, and those of them that were lost.
    package var packets: Int
    package var lost: Int
    /// `nil` if no round trip was measured, since the line was busy.
    package var trips: Trips?

    /// The tenth, the fiftieth and the ninetieth percentile of the round trips.
    package struct Trips: Hashable, Sendable {
        package var low: Duration
        package var median: Duration
        package var high: Duration

        /// How much longer than the median the slowest tenth took.
        package var jitter: Duration { high - median }

        package init(low: Duration, median: Duration, high: Duration) {
            (self.low, self.median, self.high) = (low, median, high)
        }

        /// - Returns: `nil` without any.
        package init?(_ all: [Duration]) {
            guard !all.isEmpty else { return nil }
            let sorted = all.sorted()
            (low, median, high) = (
                sorted[sorted.count / 10], sorted[sorted.count / 2], sorted[sorted.count * 9 / 10]
            )
        }
    }

    package init(interface: String, length: Duration, packets: Int, lost: Int, trips: Trips?) {
        self.interface = interface
        self.length = length
        self.packets = packets
        self.lost = lost
        self.trips = trips
    }

    package var lostShare: Double { packets == 0 ? 0 : Double(lost) / Double(packets) }
}
