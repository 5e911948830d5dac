internal import ReachCore

/// Counts the Internet's epochs: one more whenever path, source or gateway differ, in either family.
struct EpochCounter {
    private struct Way: Equatable {
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
    private var ways: [Way]?

    /// - Returns: Whether a new epoch began. The first look begins none.
    mutating func count(_ internet: Verdict) -> Bool {
        let now = [Way(internet.ipv4), Way(internet.ipv6)]
        defer { ways = now }
        guard let ways, ways != now else { return false }
        value += 1
        return true
    }
}
