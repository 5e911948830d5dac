/// Waits that double from `first` to `longest`.
package struct Backoff: Hashable, Sendable {
    private let first: Duration
    private let longest: Duration
    private var next: Duration

    package init(first: Duration, longest: Duration) {
        self.first = first
        self.longest = longest
        next = first
    }

    /// How long to wait before the next attempt.
    package mutating func wait() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// An attempt succeeded: begin anew.
    package mutating func reset() { next = first }
}
