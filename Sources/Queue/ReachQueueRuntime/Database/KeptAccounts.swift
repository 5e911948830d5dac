internal import ReachQueue

/// How much is kept of each owner's requests that are done or cancelled.
struct KeptAccounts {
    struct Account: Equatable {
        var count = 0
        var bytes: Int64 = 0
    }

    private var accounts: [UInt32: Account] = [:]
    /// Owners who got something since they were last looked at.
    private var grown: Set<UInt32> = []

    subscript(owner: UInt32) -> Account { accounts[owner] ?? Account() }

    mutating func add(_ bytes: Int64, count: Int = 1, of owner: UInt32) {
        accounts[owner, default: Account()].count += count
        accounts[owner]?.bytes += bytes
        grown.insert(owner)
    }

    mutating func remove(_ bytes: Int64, of owner: UInt32) {
        guard var account = accounts[owner] else { return }
        account.count -= 1
        account.bytes -= bytes
        accounts[owner] = account.count > 0 ? account : nil
    }

    /// Owners who have too much. A few more than the number allowed are suffered, so that not every end of a request
    /// removes another.
    mutating func claimOwnersOverLimit(_ options: QueueStoreOptions, slack: Int) -> [UInt32] {
        defer { grown = [] }
        return grown.filter { owner in
            let account = self[owner]
            return account.count > options.results.count + slack || isTooLong(account, options)
        }.sorted()
    }

    /// Whether one more has to go.
    func mustShrink(_ owner: UInt32, _ options: QueueStoreOptions) -> Bool {
        let account = self[owner]
        return account.count > options.results.count || isTooLong(account, options)
    }

    /// The last one stays, however long it is: attempts bound an answer.
    private func isTooLong(_ account: Account, _ options: QueueStoreOptions) -> Bool {
        account.bytes > options.results.bytes && account.count > 1
    }
}
