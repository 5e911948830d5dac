/// A record, and those after it that differ from it in nothing but the target. With a thousand targets behind one default
/// route, a change of the route makes one group.
package struct HistoryGroup: Hashable, Sendable {
    package let first: HistoryEntry
    /// The targets of the others. There are none unless the first record is a state.
    package private(set) var otherTargets: [String] = []

    package init(_ first: HistoryEntry) { self.first = first }

    /// Appends the same record of another target.
    package mutating func append(_ target: String) { otherTargets.append(target) }

    /// The number of records.
    package var count: Int { 1 + otherTargets.count }

    /// The records, in their order.
    package var entries: [HistoryEntry] { [first] + otherTargets.map(first.of) }
}
