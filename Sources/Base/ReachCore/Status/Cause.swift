/// The cause of a change: what the kernel reported, or what this program did.
///
/// The cases are in order of weight. If several causes coincide, the change names the first one that affects its path.
public enum Cause: String, Hashable, Sendable, CaseIterable {
    /// The watch began.
    case start
    /// Notices were lost, and everything was read again.
    case resync
    /// The machine slept.
    case wake
    /// The kernel could no longer be observed.
    case cannotObserve = "cannot-observe"
    /// A link was removed.
    case linkRemoved = "link-removed"
    /// A link was taken down.
    case linkDown = "link-down"
    /// A link lost its carrier, or a link below it did.
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
    /// A route replaced another.
    case routeReplaced = "route-replaced"
    /// A route was added.
    case routeAdded = "route-added"
    /// A gateway answered, or stopped answering.
    case neighbour
    /// A Wi-Fi link moved to another access point of its network.
    case roam
    /// The network behind a link is another one, or more is known of it: its Wi-Fi network, its gateway, its DHCP
    /// lease.
    case network
    /// Another property of a link changed, such as its name or the link that carries it.
    case linkChanged = "link-changed"
    /// A setting of the kernel changed.
    case setting
    /// A router announced the API of a portal, or another one.
    case router
    /// A name was resolved, or resolving it failed.
    case name
    /// Probes proved another connectivity.
    case probe
    /// A change that was held back has lasted long enough.
    case holdElapsed = "hold-elapsed"
    /// The daemon's configuration changed.
    case configuration
    /// A periodic query found a change that no notice had reported.
    case poll
}
