/// What several echo requests of one attempt found: how many were lost, and how long the answers took.
package struct ProbeBurst: Hashable, Sendable {
    package var sent: Int
    package var lost: Int
    /// `nil` if no request was answered.
    package var trips: Trips?

    /// Round trips: the fastest and the slowest, and percentiles.
    package struct Trips: Hashable, Sendable {
        package var least: Duration
        package var median: Duration
        package var percentile90: Duration
        package var most: Duration

        /// How much longer than the median the slowest tenth took, as of a line.
        package var jitter: Duration { percentile90 - median }

        package init(least: Duration, median: Duration, percentile90: Duration, most: Duration) {
            (self.least, self.median, self.percentile90, self.most) = (least, median, percentile90, most)
        }
    }

    package init(sent: Int, lost: Int, trips: Trips?) {
        (self.sent, self.lost, self.trips) = (sent, lost, trips)
    }

    /// - Parameter answers: The round trips of the requests that were answered.
    package init(sent: Int, answers: [Duration]) {
        let sorted = answers.sorted()
        (self.sent, lost) = (sent, max(0, sent - sorted.count))
        guard let least = sorted.first, let most = sorted.last else { return }
        trips = Trips(
            least: least, median: sorted[sorted.count / 2], percentile90: sorted[sorted.count * 9 / 10], most: most)
    }

    /// The share of lost requests, 0 to 1.
    package var lossShare: Double { sent == 0 ? 0 : Double(lost) / Double(sent) }
}
