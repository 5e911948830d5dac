package import ReachQueue

/// How much is kept of what is over, and how the store writes.
package struct QueueStoreOptions: Hashable, Sendable {
    /// Requests of one owner that are done or cancelled; their bytes with answers.
    package var results: QueuePolicy.Keeping
    /// A file of this length is given up when the disk is full, so that ends and changes can be written.
    package var reserveBytes: Int64 = 1 << 20
    /// How many transactions are committed as one at most.
    package var batch = 64
    /// How often a disk that failed is tried again.
    package var retryInterval: Duration = .seconds(30)
    /// After this number of bytes, the changes in the change log go into the tables. On a full disk they have to fit
    /// into the reserve.
    package var changeLogBytes = 448 << 10
    /// After so many pages SQLite's log is moved into the file: 2 MiB. That waits for the disk twice.
    package var checkpointPages = 500
    /// A longer file is checked while it is in use already: SQLite checks 200 to 300 MiB a second.
    package var checkedAtOnce: Int64 = 16 << 20
    /// More requests than these are restored in portions of this number, and the queue answers meanwhile. A portion
    /// takes the loop about three milliseconds.
    package var portion = 4096
    /// With more pages than these its log is shortened as well, so that a large transaction leaves no large log.
    package var longestLogPages = 750

    package init(_ policy: QueuePolicy = QueuePolicy()) {
        results = policy.results
    }

    /// The same with the bytes of requests of which nothing is kept: a little less than what the log's file keeps of
    /// its length.
    var longestChangeLog: Int { max(changeLogBytes, 960 << 10) }

    /// Requests that an owner may have beyond ``results`` for a while, so that not every end of one removes
    /// another.
    var slack: Int { max(64, results.count / 4) }
}

/// Where the store is in its work, for tests that kill the process there.
package enum StorePoint: String, Hashable, Sendable, CaseIterable {
    case beforeCommit = "before-commit"
    case afterCommit = "after-commit"
    case beforeCheckpoint = "before-checkpoint"
}
