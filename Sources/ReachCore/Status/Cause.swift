/// Why a change came about: what the kernel said, or what this program did.
///
/// Cases stand in order of weight. When one moment brings several, the first that touches the path is named.
public enum Cause: String, Hashable, Sendable, CaseIterable {
    /// The watch began.
    case start
    /// Notices were lost, and everything was read anew.
    case resync
    /// The machine slept.
    case wake
    /// The kernel could no longer be observed.
    case cannotObserve = "cannot-observe"
    /// A link went away.
    case linkRemoved = "link-removed"
    /// A link was taken down.
    case linkDown = "link-down"
    /// A link lost its carrier, or what is below it did.
    case carrierLost = "carrier-lost"
    /// A link was brought up.
    case linkUp = "link-up"
    /// A link has a carrier again.
    case carrierGained = "carrier-gained"
    /// A link appeared.
    case linkAdded = "link-added"
    /// An address was removed.
    case addressRemoved = "address-removed"
    /// An address was added, or finished duplicate address detection.
    case addressAdded = "address-added"
    /// An address was deprecated, or found to be a duplicate.
    case addressChanged = "address-changed"
    /// A nexthop object was removed.
    case nexthopRemoved = "nexthop-removed"
    /// A nexthop object was added or replaced.
    case nexthopAdded = "nexthop-added"
    /// A policy rule was removed.
    case ruleRemoved = "rule-removed"
    /// A policy rule was added.
    case ruleAdded = "rule-added"
    /// A route was removed.
    case routeRemoved = "route-removed"
    /// A route took the place of another.
    case routeReplaced = "route-replaced"
    /// A route was added.
    case routeAdded = "route-added"
    /// A gateway answered, or stopped answering.
    case neighbour
    /// A link was renamed, or moved below or above another.
    case linkChanged = "link-changed"
    /// A setting of the kernel was changed.
    case setting
    /// A name was resolved, or could not be.
    case name
    /// Probes proved something else.
    case probe
    /// A hold-down ended.
    case holdElapsed = "hold-elapsed"
    /// The daemon's configuration was changed.
    case configuration
    /// A periodic look found what no notice had told.
    case poll
}

extension Cause {
    /// The weightiest of the causes that touch one of these interfaces; else the weightiest of all.
    package static func telling(_ effects: [NetworkTable.Effect], touching interfaces: [InterfaceIndex]) -> Cause? {
        if effects.count == 1 { return effects[0].cause }
        let near = effects.filter { effect in effect.interface.map(interfaces.contains) ?? true }
        return (near.isEmpty ? effects : near).map(\.cause).min { $0.weight < $1.weight }
    }

    private var weight: Int { Self.weights[self] ?? .max }

    private static let weights = Dictionary(
        uniqueKeysWithValues: allCases.enumerated().map { ($0.element, $0.offset) })
}
