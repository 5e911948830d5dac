internal import ReachCore

/// The verdicts on watched targets, by their kind.
extension PathFinder {
    /// - Returns: `nil` while the target's name is being resolved for the first time.
    mutating func verdict(
        for watch: WatchedTarget, internet: Verdict, anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        if watch.target == .internet, watch.condition == nil { return internet }
        guard let chosen = try ownVerdict(for: watch, internet: internet, anchors) else { return nil }
        guard let condition = watch.condition else { return chosen }
        return try choose(
            chosen, on: watch.target.subject, internet: internet, names: watch.name.addresses, anchors: anchors,
            where: condition)
    }

    /// The verdict by the kernel's own choice of a path.
    private mutating func ownVerdict(
        for watch: WatchedTarget, internet: Verdict, _ anchors: [IPAddress]
    ) throws(NetlinkError) -> Verdict? {
        switch watch.target.subject {
        case .internet: return internet
        case .name:
            if !watch.name.addresses.isEmpty { return try anyOf(watch.name.addresses) }
            switch watch.name.answer {
            case .noAddress: return Verdict(.notReachable, reason: .nameNotResolved)
            case .notAsked, .addresses: return Verdict(.unknown, reason: .nameNotResolved)
            case nil: return nil
            }
        case let subject: return try verdict(on: subject, anchors: anchors)
        }
    }
}
