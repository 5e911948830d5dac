internal import ReachCore

/// The Wi-Fi networks that links have joined. They are queried when they are first asked for, and again after notices.
/// Confined to one thread.
///
/// On machines without Wi-Fi no one asks, so nothing is loaded and no socket opened.
final class WirelessView {
    private var queries: WirelessQueries?
    private var isUnavailable = false
    private var networks: [InterfaceIndex: WirelessNetwork?] = [:]
    /// Called before the first query, to subscribe to notices: in this order no change is missed.
    var onFirstUse: (WirelessFamily) -> Void = { _ in }

    /// The network that a link has joined; `nil` if it has joined none.
    func network(of index: InterfaceIndex) -> WirelessNetwork? {
        if let cached = networks[index] { return cached }
        let network = open()?.network(of: index)
        networks[index] = .some(network)
        return network
    }

    /// The network that a link has joined, as far as it was queried.
    func knownNetwork(of index: InterfaceIndex) -> WirelessNetwork? { networks[index] ?? nil }

    /// The links whose network was queried.
    var knownLinks: Set<InterfaceIndex> { Set(networks.keys) }

    /// All that people want to know of a link.
    func link(_ index: InterfaceIndex) -> WirelessLink? { open()?.link(index) }

    /// Queries a link's network again.
    ///
    /// - Returns: Whether it differs from the known one.
    func refresh(_ index: InterfaceIndex) -> Bool {
        let cached = networks[index]
        networks[index] = nil
        let network = network(of: index)
        return cached.map { $0 != network } ?? true
    }

    /// Makes the next look query a link's network again.
    func forget(_ index: InterfaceIndex) { networks[index] = nil }

    func remove(_ index: InterfaceIndex) { networks[index] = nil }

    func forgetAll() { networks = [:] }

    private func open() -> WirelessQueries? {
        guard queries == nil, !isUnavailable else { return queries }
        queries = WirelessQueries()
        isUnavailable = queries == nil
        if let family = queries?.family { onFirstUse(family) }
        return queries
    }
}
