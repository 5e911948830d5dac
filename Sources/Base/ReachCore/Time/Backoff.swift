/// Waiting times between attempts, doubling from `first` up to `longest`.
package struct Backoff: Hashable, Sendable {
    private let first: Duration
    private let longest: Duration
    private var next: Duration

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// Returns how long to wait before the next attempt, and doubles the wait after it.
    package mutating func wait() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// Starts again from the first wait, after an attempt succeeded.
    package mutating func reset() { next = first }
}
