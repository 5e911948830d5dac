internal import ReachControl
internal import ReachCore
internal import ReachTerminal

/// Whether a condition holds for a target, and for people why not.
///
/// `NetworkCondition` decides; this names what it found.
struct ConditionText {
    let condition: NetworkCondition
    let state: ReachabilityState
    let source: StatusSource
    /// The names of the daemon's networks; `nil` where no daemon answered.
    let networkNames: [String]?

    /// What no one observes, so that the condition can neither hold nor be refuted.
    private var missing: [String] {
        var missing: [CommandError] = []
        if condition.isValidated, !state.isValidated { missing.append(.notValidated(state.target, by: source)) }
        if condition.quality != nil, !state.measuresQuality { missing.append(.notMeasured) }
        if condition.namesNetworks, source == .kernel { missing.append(.noNetworks) }
        return missing.compactMap(\.message)
            + [networkNames.flatMap { condition.networkProblem(among: $0) }].compactMap(\.self)
    }

    var holds: Bool { missing.isEmpty && condition.holds(in: state) }

    func describe(_ style: TerminalStyle) -> String {
        let word = holds ? style.paint("holds", .green) : style.paint("does not hold", .red)
        let lines = holds ? [] : reasons.map { "  \(style.paint("!!", .red))  \(DisplayText.sanitized($0))\n" }
        return "\(style.paint(DisplayText.sanitized(condition.description), .bold))  \(word)\n" + lines.joined()
    }

    private var reasons: [String] {
        let missing = missing
        guard missing.isEmpty else { return missing }
        if state.isStale || state.status == .unknown {
            return ["What is now is not known, and that satisfies nothing."]
        }
        if condition.isTargetUnreachable { return ["\(state.target) is reachable."] }
        let unmet = condition.unmet(in: state)
        return Self.order.filter { unmet.contains($0) }.compactMap(sentence)
    }

    private static let order: [NetworkCondition.Unmet] = [
        .unreadable, .path, .target, .linkClass, .metered, .network, .family, .validated, .quality,
    ]

    private func sentence(_ unmet: NetworkCondition.Unmet) -> String? {
        let link = state.interface ?? "the path"
        switch unmet {
        case .path, .target:
            let why = (state.rootCause?.sentence ?? state.reason?.sentence).map { ": \($0)" } ?? ""
            return "There is no path to \(state.target)\(why)."
        case .linkClass:
            return "The path leaves by \(link), which is \(state.linkClass?.rawValue ?? "of no known class")."
        case .metered: return "\(link) is metered\(state.meteredReason.map { " (\($0.rawValue))" } ?? "")."
        case .network: return "\(networks)."
        case .family:
            return "There is no path by \((condition.family ?? .ipv4).title)."
        case .validated: return "The Internet is not proved: its connectivity is \(state.connectivity.rawValue)."
        case .quality: return "The line is \(state.quality?.text ?? "not measured yet")."
        case .unreadable: return "No one knows what this condition asks for."
        default: return nil
        }
    }

    /// Which networks the paths lead to.
    private var networks: String {
        let seen = [state.ipv4, state.ipv6].compactMap { path in
            path.status == .reachable ? path.network.map { "\(path.interface ?? "a link") leads to \($0)" } : nil
        }
        let one = seen.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        return one.isEmpty ? "No network behind the path is known" : one.joined(separator: "; ")
    }
}
