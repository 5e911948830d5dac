internal import ReachCore

/// Durations counted in a fixed number of buckets, so that its memory does not grow.
package struct LatencyHistogram: Hashable, Sendable {
    /// The upper bounds of the buckets, ascending. One more bucket holds what exceeds the last bound.
    package struct Bounds: Hashable, Sendable {
        let nanoseconds: [Int64]

        /// The default buckets of Prometheus's client libraries, plus 1 ms: from 1 ms to 10 s.
        package static let prometheus = Bounds(
            nanoseconds: [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000].map { $0 * 1_000_000 })

        /// Eight buckets per doubling from 16 us to 67 s, so that a percentile is off by at most a twentieth.
        package static let fine = Bounds(
            nanoseconds: (0..<22).flatMap { octave in
                (0..<8).map { part in Int64(16_000) << Int64(octave) / 8 * Int64(8 + part) }
            })

        package var seconds: [Double] { nanoseconds.map { Double($0) / 1e9 } }
    }

    package let bounds: Bounds
    /// One count per bucket: one more than there are bounds.
    package private(set) var counts: [UInt32]
    package private(set) var sum: Duration = .zero

    package init(_ bounds: Bounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.nanoseconds.count + 1)
    }

    /// - Returns: Whether there is such a bucket.
    package mutating func restore(_ count: UInt32, at place: Int) -> Bool {
        guard counts.indices.contains(place) else { return false }
        counts[place] = count
        return true
    }

    mutating func restore(sum: Duration) { self.sum = sum }

    package var count: UInt64 { counts.reduce(0) { $0 + UInt64($1) } }

    package mutating func add(_ duration: Duration) {
        let place = Self.place(of: duration.nanoseconds, in: bounds.nanoseconds)
        counts[place] = counts[place] == .max ? .max : counts[place] + 1
        sum += duration
    }

    /// The duration that a fraction of all durations stay below, interpolated linearly within its bucket.
    ///
    /// - Parameter fraction: From 0 to 1.
    /// - Returns: `nil` if nothing was counted. Durations above the last bound count as that bound.
    package func percentile(_ fraction: Double) -> Duration? {
        let all = count
        guard all > 0 else { return nil }
        var rank = max(1, min(Double(all), fraction * Double(all)))
        for (place, count) in counts.enumerated() where count > 0 {
            guard rank > Double(count) else {
                guard place < bounds.nanoseconds.count else { break }
                let low = place > 0 ? bounds.nanoseconds[place - 1] : 0
                let high = bounds.nanoseconds[place]
                return .nanoseconds(low + Int64(Double(high - low) * rank / Double(count)))
            }
            rank -= Double(count)
        }
        return .nanoseconds(bounds.nanoseconds.last ?? 0)
    }

    /// Index of the first bucket whose bound is not less than the duration.
    private static func place(of nanoseconds: Int64, in bounds: [Int64]) -> Int {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < nanoseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
