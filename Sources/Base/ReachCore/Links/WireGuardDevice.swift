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

    /// The silence of all far ends; `nil` if one of them has agreed on keys that still hold, or if there is none.
    ///
    /// Without such keys nothing passes. A tunnel in which nothing was sent has none either; it gets them with its next
    /// packet.
    package func silence(at now: Timestamp) -> TunnelSilence? {
        let ends = farEnds
        let asked = peers.filter { peer in peer.endpoint.map(ends.contains) ?? false }
        guard !asked.isEmpty else { return nil }
        guard let last = asked.compactMap(\.lastHandshake).max() else {
            return TunnelSilence(farEnds: ends, since: nil)
        }
        let age = Timestamp(secondsSince1970: Int(last), nanoseconds: 0).duration(to: now)
        return age > Self.keyLifetime ? TunnelSilence(farEnds: ends, since: age) : nil
    }

    /// REJECT_AFTER_TIME of WireGuard's protocol (section 6.1 of its paper). While packets flow, keys are renewed after
    /// 120 s.
    private static let keyLifetime = Duration.seconds(180)

    /// Adds what a later part of the kernel's answer says. The last peer may go on in it, without its key's other
    /// properties.
    package mutating func add(_ part: WireGuardDevice) { peers += part.peers }
}

/// Far ends of a WireGuard link with which no keys are agreed.
package struct TunnelSilence: Hashable, Sendable {
    package let farEnds: [IPAddress]
    /// The time since the last handshake; `nil` if there was none since the link was made.
    package let since: Duration?

    /// As the end of a sentence.
    package var text: String {
        let ends = farEnds.prefix(4).map(\.description).listed
        guard let since else { return "there was never a handshake with \(ends)" }
        return "the last handshake with \(ends) was \(DurationText.describe(since)) ago"
    }
}
