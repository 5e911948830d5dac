/// The requests of an earlier run that are still to be restored. They count for limits and figures from the beginning,
/// so that new requests can be accepted meanwhile.
package struct ExpectedRequests: Hashable, Sendable {
    /// What one owner has.
    package struct Share: Hashable, Sendable {
        /// The number of requests that are not over.
        package var count: Int
        /// Their bytes, as far as they count for limits.
        package var bytes: Int64

        package init(count: Int, bytes: Int64) {
            self.count = count
            self.bytes = bytes
        }
    }

    package private(set) var shares: [UInt32: Share]
    /// How many requests are restored, the dead ones too: room is made for them.
    package let total: Int

    package init(shares: [UInt32: Share] = [:], total: Int = 0) {
        self.shares = shares
        self.total = total
    }

    /// Takes a request off that was restored.
    ///
    /// - Returns: What no longer counts as expected.
    mutating func remove(_ bytes: Int64, of owner: UInt32) -> Share {
        guard var share = shares[owner], share.count > 0 else { return Share(count: 0, bytes: 0) }
        let removed = Share(count: 1, bytes: share.count == 1 ? share.bytes : min(bytes, share.bytes))
        share.count -= 1
        share.bytes -= removed.bytes
        shares[owner] = share.count > 0 ? share : nil
        return removed
    }
}
