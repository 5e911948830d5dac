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
    /// When the first and the last of them went away: no earlier and no later than their last words allow.
    package let first: Timestamp
    package let last: Timestamp
    /// By when the first had gone, if that is not known: a machine that lost its power did so after its last word.
    package let firstBy: Timestamp
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

extension JSONWriter {
    /// An outage for programs.
    ///
    /// - Parameter hosts: The members' identities.
    package mutating func outage(_ outage: Outage, hosts: [String]) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-outage")
            json.field("open", outage.isOpen)
            json.field("shared", object: { $0.extent(outage.extent) })
            json.field("also", array: { json in for extent in outage.others { json.object { $0.extent(extent) } } })
            json.field("first", outage.first)
            json.field("first_by", outage.firstBy)
            json.field("last", outage.last)
            json.field("presumed", Int64(outage.members.count - outage.confirmed))
            json.field("confirmed", Int64(outage.confirmed))
            json.field("reason", outage.reason?.rawValue)
            json.field("back", Int64(outage.back))
            json.field("first_back", outage.firstBack?.description)
            json.field("last_back", outage.lastBack?.description)
            json.field("hosts", outage.members.map { hosts[$0] })
        }
    }

    private mutating func extent(_ extent: Outage.Extent) {
        field("by", extent.trait.name)
        field("value", extent.trait.value)
        field("affected", Int64(extent.affected))
        field("known", Int64(extent.known))
    }
}
