internal import ReachCore

/// How many events of each user's requests leave the host, so that no one's fill the stream of all hosts: a value.
///
/// It counts by the times of the events, so what waited without a path for a week is judged like what leaves at once.
struct EventShares: Sendable {
    /// The events that may come together.
    static let burst: Int64 = 2000
    /// The time after which one more may come: 17,280 a day.
    static let interval: Duration = .seconds(5)

    /// For each user, when the burst would be whole again, in nanoseconds since 1970.
    private var whole: [UInt32: Int64] = [:]
    /// The most users that are remembered, but for those who have used some of their share.
    private static let users = 1024

    /// Whether an event leaves; it then counts.
    mutating func allow(_ user: UInt32, at time: Timestamp) -> Bool {
        // A clock may say anything, and no sum may overflow.
        let now = min(max(time.nanosecondsSince1970, 0), .max / 4)
        let interval = Self.interval.nanoseconds
        let depth = interval * Self.burst
        var present = max(whole[user] ?? now, now)
        // The clock was set back.
        if present - now > 2 * depth { present = now }
        guard present + interval - now <= depth else { return false }
        whole[user] = present + interval
        if whole.count > Self.users { whole = whole.filter { $0.value > now } }
        return true
    }
}
