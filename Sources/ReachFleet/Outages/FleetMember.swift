package import ReachCore

/// What a host may have in common with others that go away at the same time.
package struct FleetMember: Hashable, Sendable {
    package let host: String
    /// The first hop of its path to the Internet, as the host reports it.
    package let gateway: IPAddress?
    /// The address from which it connected, as the engine saw it.
    package let address: IPAddress?
    package let labels: [String: String]
    /// The class of the link that carries its path, as a word: `wifi`.
    package let linkClass: String?

    package init(
        host: String, gateway: IPAddress? = nil, address: IPAddress? = nil, labels: [String: String] = [:],
        linkClass: String? = nil
    ) {
        self.host = host
        self.gateway = gateway
        self.address = address
        self.labels = labels
        self.linkClass = linkClass
    }
}
