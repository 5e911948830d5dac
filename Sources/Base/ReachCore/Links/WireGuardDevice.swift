/// What the kernel says of a WireGuard link, as far as it bears on reachability.
package struct WireGuardDevice: Hashable, Sendable {
    package struct Peer: Hashable, Sendable {
        /// Where packets to it are sent; `nil` before it was heard of.
        package var endpoint: IPAddress?
        /// The seconds of the wall clock at the last handshake; `nil` if there was none.
        package var lastHandshake: Int64?
        /// Whether whatever has no other peer goes to it: one of its networks is 0.0.0.0/0, ::/0, or half of that.
        package var takesAll = false

        package init() {}
    }

    /// The firewall mark of its outer packets.
    package var mark: UInt32?
    package var peers: [Peer] = []

    package init() {}

    /// The most far ends that are looked at. A server has thousands of peers.
    private static let mostEnds = 8

    /// Where its packets are sent, each once: of the peer that takes everything, if there is one, else of all.
    package var farEnds: [IPAddress] {
        let reached = peers.filter { $0.endpoint != nil }
        let all = reached.filter(\.takesAll)
        var ends: [IPAddress] = []
        for peer in all.isEmpty ? reached : all {
            guard ends.count < Self.mostEnds, let endpoint = peer.endpoint, !ends.contains(endpoint) else { continue }
            ends.append(endpoint)
        }
        return ends
    }

    /// Adds what a later part of the kernel's answer says. The last peer may go on in it, without its key's other properties.
    package mutating func add(_ part: WireGuardDevice) { peers += part.peers }
}
