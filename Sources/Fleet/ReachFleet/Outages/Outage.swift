package import ReachCore

/// Hosts that went away together, and what they have in common.
package struct Outage: Hashable, Sendable {
    /// A trait that the hosts share, and how many of those that have it are affected.
    package struct Extent: Hashable, Sendable {
        package let trait: SharedTrait
        package let affected: Int
        /// Hosts with the trait that were here when it began, or are affected.
        package let known: Int
    }

    /// What explains it best.
    package let extent: Extent
    /// What else they share, the most specific first.
    package let others: [Extent]
    /// The affected hosts' indexes among the members, ascending.
    package let members: [Int]
    /// When the first and the last of them went away.
    package let first: Timestamp
    package let last: Timestamp
    /// How many have said themselves that they were away.
    package let confirmed: Int
    /// The reason that most of those give, if more than half of them agree.
    package let reason: Reason?
    /// How many are back, and when the first and the last of these returned.
    package let back: Int
    package let firstBack: Timestamp?
    package let lastBack: Timestamp?

    /// Whether it lasts. It is over when nine in ten are back: a few hosts stay away for reasons of their own.
    package var isOpen: Bool { back * 10 < members.count * 9 }

    /// The time between the first departure and the last.
    package var span: Duration { .nanoseconds(last.nanosecondsSince1970 &- first.nanosecondsSince1970) }
}
