/// Which requests are wanted.
package struct RecordQuery: Hashable, Sendable {
    /// `nil` is everybody's.
    package var owner: UInt32?
    /// Only those with larger numbers.
    package var after: Int64
    package var limit: Int
    /// Only those that are over, or only those that are not; `nil` is both.
    package var isOver: Bool?

    package init(owner: UInt32? = nil, after: Int64 = 0, limit: Int, isOver: Bool? = nil) {
        self.owner = owner
        self.after = after
        self.limit = limit
        self.isOver = isOver
    }
}
