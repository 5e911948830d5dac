/// How a host stands in the fleet, in one word.
package enum HostWord: String, Hashable, Sendable, CaseIterable {
    /// It renews its lease and reaches what it watches.
    case here
    /// It renews its lease, but a portal, a limited path or a target that is down stands in its way.
    case limited
    /// Its lease ran out or its connection ended, and it did not say goodbye.
    case silent
    /// It said goodbye.
    case left
    /// Its key is known, but it has never connected.
    case unseen

    /// Whether the host is not here.
    package var isAway: Bool { self == .silent || self == .left }
}
