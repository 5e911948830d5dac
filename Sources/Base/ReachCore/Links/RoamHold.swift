/// Keeps Wi-Fi links up while they move from one access point of their network to another. A pure value: notices and
/// times come from outside.
///
/// mac80211 leaves the old access point before it asks the new one: the carrier goes and returns some 50 to 300 ms
/// later, which is no outage. When a link that has joined a network loses its carrier, the loss is held back until
/// nl80211 says why, for at most ``patience``. Only if this machine left by itself and without a reason is it held back
/// further, for ``limit``.
///
/// The carrier may return before nl80211 says which network the link has joined. The loss is then remembered for
/// ``patience``, so that it counts if the network is another one.
package struct RoamHold: Equatable, Sendable {
    /// How soon after a loss nl80211 says why: it does so at the end of the same call, after the goodbye was sent.
    package static let patience: Duration = .milliseconds(200)
    /// How long joining the next access point may take, with 802.1X too.
    package static let limit: Duration = .seconds(3)

    private struct Loss: Equatable {
        /// The link without its carrier, as the kernel described it last; `nil` while it still has it.
        var link: Link?
        /// Whether the carrier has returned, and nl80211 has not said where the link is.
        var hasReturned = false
        /// Whether nl80211 has said that the link joined an access point of the same network.
        var hasJoined = false
        var deadline: BootTime
        /// When the link first left.
        let began: BootTime
        /// The network that it had joined.
        let network: WirelessNetwork
        /// Whether the link has left for good, so that the loss counts as soon as the kernel reports it.
        var isFinal = false
    }

    private var losses: [InterfaceIndex: Loss] = [:]

    package init() {}

    /// When to call ``timeReached(at:)``.
    package var deadline: BootTime? { losses.values.map(\.deadline).min() }

    /// Whether a loss of the link is held back.
    package func isHolding(_ index: InterfaceIndex) -> Bool { losses[index].map { !$0.hasReturned } ?? false }

    /// Whether anything is remembered of the link.
    package func knows(_ index: InterfaceIndex) -> Bool { losses[index] != nil }

    /// - Parameters:
    ///   - known: The link as the table has it.
    ///   - network: The network that it has joined; `nil` if none.
    /// - Returns: Whether the notice is held back.
    package mutating func holds(
        _ link: Link, after known: Link?, in network: WirelessNetwork?, at now: BootTime
    ) -> Bool {
        guard link.isUp, !link.isUsable else {
            // nl80211 may say that the link leaves before the kernel says that its carrier is gone.
            if !link.isUp {
                losses[link.index] = nil
            } else if var loss = losses[link.index], loss.link != nil, !loss.hasReturned {
                (loss.hasReturned, loss.deadline) = (true, now + Self.patience)
                losses[link.index] = loss.hasJoined ? nil : loss
            }
            return false
        }
        if var loss = losses[link.index] {
            if loss.hasReturned { loss.deadline = min(now + Self.patience, loss.began + Self.limit) }
            (loss.link, loss.hasReturned) = (link, false)
            losses[link.index] = loss.isFinal ? nil : loss
            return !loss.isFinal
        }
        guard let network, known?.isUsable == true else { return false }
        losses[link.index] = Loss(link: link, deadline: now + Self.patience, began: now, network: network)
        return true
    }

    /// The link left its network.
    ///
    /// - Parameters:
    ///   - link: The link as the table has it.
    ///   - network: The network that it had joined.
    ///   - mayReturn: Whether it may be about to join another access point.
    /// - Returns: The loss that counts now, if one was held back.
    package mutating func left(
        _ link: Link, _ network: WirelessNetwork, mayReturn: Bool, at now: BootTime
    ) -> Link? {
        let held = losses[link.index]
        losses[link.index] = nil
        guard held != nil || link.isUsable else { return nil }
        if !mayReturn, let held, !held.hasReturned, let loss = held.link { return loss }
        if var held, held.hasReturned {
            held.deadline = now + Self.patience
            losses[link.index] = held
            return nil
        }
        // Who joins and leaves again and again has no more time than who leaves once.
        let began = held?.began ?? now
        losses[link.index] = Loss(
            link: held?.link, deadline: mayReturn ? began + Self.limit : now + Self.patience, began: began,
            network: held?.network ?? network, isFinal: !mayReturn)
        return nil
    }

    /// The link joined a network.
    ///
    /// - Returns: The loss that counts now, if one was held back and the network is another one.
    package mutating func joined(_ index: InterfaceIndex, _ network: WirelessNetwork?) -> Link? {
        guard let loss = losses[index] else { return nil }
        let isAnotherNetwork = loss.network.ssid != network?.ssid
        if isAnotherNetwork || loss.hasReturned { losses[index] = nil } else { losses[index]?.hasJoined = true }
        return isAnotherNetwork ? loss.link : nil
    }

    package mutating func forget(_ index: InterfaceIndex) { losses[index] = nil }

    /// - Returns: The links that did not return in time, each with the loss that counts now, if there was one.
    package mutating func timeReached(at now: BootTime) -> [(index: InterfaceIndex, loss: Link?)] {
        let due = losses.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
        for (index, _) in due { losses[index] = nil }
        return due.map { ($0.key, $0.value.hasReturned ? nil : $0.value.link) }
    }
}
