internal import ReachCore

/// What the tables have beyond what was committed, and how to go back.
///
/// Invariant: ``committed`` is what ``now`` was when the open fold began; it is `nil` while none is open.
struct TableFold {
    /// What a fold counts.
    struct Counters {
        /// Of requests that are over and not dead.
        var kept = KeptAccounts()
        /// Spool files that nothing names any more, once the fold is safe.
        var filesToRemove: [String] = []
        /// Requests that ended since what is too old was last removed.
        var finished = 0
        /// When the last request ended.
        var lastEnd: Timestamp
        /// Changes that the tables do not take, with the reasons.
        var leftOut: [String] = []
    }

    var now: Counters
    private(set) var committed: Counters?

    init(at time: Timestamp) { now = Counters(lastEnd: time) }

    /// Whether the tables have more than was committed.
    var isOpen: Bool { committed != nil }

    /// What the committed tables keep of each owner.
    var keptInTables: KeptAccounts { committed?.kept ?? now.kept }

    mutating func begin() { committed = now }

    /// Keeps what was counted.
    mutating func end() { committed = nil }

    /// Goes back to what was committed.
    mutating func undo() {
        if let committed { now = committed }
        committed = nil
    }

    /// The files that may go once the commit is on the disk.
    mutating func takeFilesToRemove() -> [String] {
        defer { now.filesToRemove = [] }
        return now.filesToRemove
    }

    /// The changes that the tables do not take, once it is certain that they never will.
    mutating func takeLeftOut() -> [String] {
        guard !isOpen else { return [] }
        defer { now.leftOut = [] }
        return now.leftOut
    }
}
