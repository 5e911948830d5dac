/// What the kernel knows of a host on the same link, by ARP or neighbour discovery (RTM_NEWNEIGH).
package struct Neighbour: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let interface: InterfaceIndex
        package let address: IPAddress

        package init(interface: InterfaceIndex, address: IPAddress) {
            self.interface = interface
            self.address = address
        }
    }

    package let key: Key
    package let state: NeighbourState

    package init(key: Key, state: NeighbourState) {
        self.key = key
        self.state = state
    }
}

/// Whether a host on the same link answers (`NUD_*` of linux/neighbour.h).
public enum NeighbourState: String, Hashable, Sendable {
    /// The kernel has not tried. Says nothing of whether it would answer.
    case none
    /// Asked, and no answer yet.
    case incomplete
    /// Answered a short while ago.
    case reachable
    /// Answered once; nothing was sent to it lately.
    case stale
    /// Stale, and something has just been sent.
    case delay
    /// Being asked again.
    case probe
    /// Did not answer.
    case failed
    /// Needs no asking.
    case noarp
    /// Set by hand.
    case permanent

    /// From the kernel's bits, of which one is set.
    package init(kernel bits: UInt16) {
        let states: [NeighbourState] = [
            .incomplete, .reachable, .stale, .delay, .probe, .failed, .noarp, .permanent,
        ]
        self = bits == 0 || bits > 0x80 ? .none : states[bits.trailingZeroBitCount]
    }
}
