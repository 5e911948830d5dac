internal import ReachCore

/// Counts the Internet's epochs. A new one begins when interface, source or gateway changes in either family.
struct EpochCounter {
    private struct PathKey: Equatable {
        let interface: InterfaceIndex?
        let source: IPAddress?
        let gateway: IPAddress?

        init(_ path: NetworkPath) {
            let isReachable = path.status == .reachable
            interface = isReachable ? path.interfaceIndex : nil
            source = isReachable ? path.source : nil
            gateway = isReachable ? path.gateway : nil
        }
    }

    private(set) var value: UInt64 = 1
    private var paths: [PathKey]?
    /// The last verdict by other options.
    private var judgedBefore: Verdict?

    /// From now on paths are judged by other options. A verdict that differs counts as an epoch: at worst something is
    /// tried once more.
    mutating func expectOtherJudgement(than internet: Verdict?) { judgedBefore = internet }

    /// Compares a verdict with the one before it.
    ///
    /// - Returns: Whether a new epoch began. The first verdict begins none.
    mutating func count(_ internet: Verdict) -> Bool {
        let current = [PathKey(internet.ipv4), PathKey(internet.ipv6)]
        defer { (paths, judgedBefore) = (current, nil) }
        guard let paths, paths != current || judgedBefore.map({ $0 != internet }) ?? false else { return false }
        value += 1
        return true
    }
}
