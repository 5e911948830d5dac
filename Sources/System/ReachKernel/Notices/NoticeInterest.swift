internal import ReachCore

/// Of what the kernel notifies an observer: what is needed, and what passes the filter of its socket.
///
/// What no path needs any more passes for a while: for each new filter the kernel compiles a program, which costs more
/// than everything else that follows a notice.
struct NoticeInterest {
    /// The addresses whose routes matter.
    private(set) var targets: Set<IPAddress> = []
    private(set) var passing = SocketFilter()
    private var installed = SocketFilter()
    private static let passingLimit = 64

    /// - Returns: Whether routes to some of these addresses were not reported so far.
    mutating func watch(_ targets: Set<IPAddress>) -> Bool {
        let hasMore = !targets.isSubset(of: passing.targets)
        self.targets = targets
        let all = passing.targets.union(targets)
        passing.targets = all.count > Self.passingLimit ? targets : all
        return hasMore
    }

    /// - Returns: Those of these neighbours that were not reported so far.
    mutating func track(_ needed: Set<Neighbour.Key>) -> Set<Neighbour.Key> {
        let missing = needed.subtracting(passing.neighbours)
        guard !missing.isEmpty else { return [] }
        let all = passing.neighbours.union(missing)
        passing.neighbours = all.count > Self.passingLimit ? needed : all
        return missing
    }

    /// Notes that the socket gets the filter that it should have.
    ///
    /// - Returns: Whether it is another one than before.
    @discardableResult
    mutating func noteInstalled() -> Bool {
        guard passing != installed else { return false }
        installed = passing
        return true
    }
}
