/// A condition on a target's state that `reach wait` and `reach run` wait for.
package enum Condition: Hashable, Sendable, CustomStringConvertible {
    case reachable
    case notReachable
    case internet
    case linkClass(LinkClass)
    case unmetered
    case interface(String)

    /// Reads a condition as written on the command line.
    ///
    /// - Returns: `nil` for anything else.
    package init?(_ text: String) {
        switch text {
        case "reachable": self = .reachable
        case "not-reachable": self = .notReachable
        case "internet": self = .internet
        case "unmetered": self = .unmetered
        default:
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[1].isEmpty else { return nil }
            switch parts[0] {
            case "class":
                guard let linkClass = LinkClass(rawValue: parts[1]) else { return nil }
                self = .linkClass(linkClass)
            case "interface":
                guard (try? Target.interface(parts[1])) != nil else { return nil }
                self = .interface(parts[1])
            default: return nil
            }
        }
    }

    package var description: String {
        switch self {
        case .reachable: "reachable"
        case .notReachable: "not-reachable"
        case .internet: "internet"
        case .linkClass(let linkClass): "class=\(linkClass.rawValue)"
        case .unmetered: "unmetered"
        case .interface(let name): "interface=\(name)"
        }
    }

    /// All conditions that can be written, for messages.
    package static let grammar =
        "reachable, not-reachable, internet, class=NAME, unmetered or interface=NAME, where the classes are "
        + LinkClass.allCases.map(\.rawValue).joined(separator: ", ")

    /// Whether the condition holds. A stale or unknown state fulfils none, so waiting ends only on what is known.
    package func holds(in state: ReachabilityState) -> Bool {
        guard !state.isStale else { return false }
        switch self {
        case .reachable: return state.isReachable
        case .notReachable: return state.status == .notReachable
        case .internet: return state.connectivity == .full
        case .linkClass(let linkClass): return state.isReachable && state.linkClass == linkClass
        case .unmetered: return state.isReachable && !state.isMetered
        case .interface(let name):
            return [state.ipv4, state.ipv6].contains { $0.status == .reachable && $0.interface == name }
        }
    }
}
