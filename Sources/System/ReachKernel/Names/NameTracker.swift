internal import ReachCore

/// What is known of a name's addresses, and when to ask again. A pure value: answers and times are arguments.
struct NameTracker {
    /// The resolver gives no lifetimes (getaddrinfo has none), so a name is asked for again this often.
    static let refreshInterval: Duration = .seconds(60)

    private(set) var addresses: [IPAddress] = []
    /// The last answer; `nil` before the first.
    private(set) var answer: NameAnswer?
    private(set) var isAsking = false
    private var wantsAnother = false
    private var backoff = Backoff(first: .seconds(5), longest: refreshInterval)

    /// - Returns: Whether to ask now; while an answer is awaited, it is asked once more afterwards.
    mutating func shouldAsk() -> Bool {
        wantsAnother = isAsking
        defer { isAsking = true }
        return !isAsking
    }

    /// Takes an answer.
    ///
    /// - Returns: How long to wait before asking again.
    mutating func take(_ new: NameAnswer) -> Duration {
        isAsking = false
        answer = new
        switch new {
        case .addresses(let found):
            addresses = found
            backoff.reset()
        case .noAddress: addresses = []
        // What was known may still hold; a resolver that is silent proves nothing.
        case .notAsked: break
        }
        if wantsAnother {
            wantsAnother = false
            return .zero
        }
        if case .addresses = new { return Self.refreshInterval }
        return backoff.wait()
    }
}
