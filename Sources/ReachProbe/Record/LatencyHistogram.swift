internal import ReachCore

/// How often something took how long, in a fixed number of buckets: its memory does not grow.
package struct LatencyHistogram: Hashable, Sendable {
    /// The upper ends of the buckets, ascending; above the last there is one more.
    package struct Bounds: Hashable, Sendable {
        let nanoseconds: [Int64]

        /// The customary ones of Prometheus's clients, and one more below: from 1 ms to 10 s.
        package static let prometheus = Bounds(
            nanoseconds: [1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000].map { $0 * 1_000_000 })

        /// Eight to each doubling from 16 us to 67 s: a percentile is off by no more than a twentieth.
        package static let fine = Bounds(
            nanoseconds: (0..<22).flatMap { octave in
                (0..<8).map { part in Int64(16_000) << Int64(octave) / 8 * Int64(8 + part) }
            })

        package var seconds: [Double] { nanoseconds.map { Double($0) / 1e9 } }
    }

    package let bounds: Bounds
    /// One more than there are bounds.
    package private(set) var counts: [UInt32]
    package private(set) var sum: Duration = .zero

    package init(_ bounds: Bounds) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.nanoseconds.count + 1)
    }

    package var count: UInt64 { counts.reduce(0) { $0 + UInt64($1) } }

    package mutating func add(_ duration: Duration) {
        let place = Self.place(of: duration.nanoseconds, in: bounds.nanoseconds)
        counts[place] = counts[place] == .max ? .max : counts[place] + 1
        sum += duration
    }

    /// The duration that this part of all stay below; within the bucket as if they were spread evenly over it.
    ///
    /// - Parameter fraction: From 0 to 1.
    /// - Returns: `nil` where there is nothing. What is above all buckets counts as their end.
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

    /// The first bucket that holds it: its end is no less.
    private static func place(of nanoseconds: Int64, in bounds: [Int64]) -> Int {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < nanoseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
