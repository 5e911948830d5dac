/// A host on the same link, as the kernel knows it by ARP or neighbour discovery (RTM_NEWNEIGH).
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
    /// `nil` while the host has not answered, and on links without such addresses.
    package var hardwareAddress: HardwareAddress?

    package init(key: Key, state: NeighbourState) {
        self.key = key
        self.state = state
    }
}

/// The state of a neighbour entry: whether the host answers (`NUD_*` of linux/neighbour.h).
public enum NeighbourState: String, Hashable, Sendable {
    /// The kernel has not queried the host. Whether it would answer is unknown.
    case none
    /// The kernel queried the host and has no answer yet.
    case incomplete
    /// The host answered recently.
    case reachable
    /// The host answered once; the kernel has not confirmed it recently.
    case stale
    /// The entry was stale and a packet was just sent; the kernel waits for a confirmation.
    case delay
    /// The kernel is querying the host again.
    case probe
    /// The host did not answer.
    case failed
    /// The link needs no address resolution.
    case noarp
    /// The entry was set by an administrator.
    case permanent

    /// Creates a state from the kernel's bits, of which one is set.
    package init(kernel bits: UInt16) {
        let states: [NeighbourState] = [
            .incomplete, .reachable, .stale, .delay, .probe, .failed, .noarp, .permanent,
        ]
        self = bits == 0 || bits > 0x80 ? .none : states[bits.trailingZeroBitCount]
    }
}

/// How long the kernel asks for a link's neighbours, and for how long it remembers them: settings of each device for
/// each family (arp(7)), which administrators change, and routers by their advertisements (RFC 4861, 6.3.4).
package struct NeighbourTimes: Hashable, Sendable {
    /// base_reachable_time_ms.
    package var reachable: Duration
    /// retrans_time_ms: from one question to the next.
    package var retransmission: Duration
    /// mcast_solicit: the questions before the kernel gives up.
    package var questions: Int

    /// The kernel's own, where no one has changed them.
    package init(
        reachable: Duration = .seconds(30), retransmission: Duration = .seconds(1), questions: Int = 3
    ) {
        (self.reachable, self.retransmission, self.questions) = (reachable, retransmission, questions)
    }

    /// The time after which a neighbour that does not answer counts as failed. The settings have no limits, and their
    /// product must not be too long for a clock.
    package var patience: Duration { retransmission * min(max(1, questions), 100) }

    /// An entry counts as confirmed when it is made, and that so long ago (`___neigh_create`).
    var confirmedWhenMade: Duration { reachable * 2 }

    /// How long a first attempt lasts that fails. It begins a moment late, and ends with a timer.
    var attempt: Range<Duration> {
        patience - retransmission / 2..<patience + retransmission + .milliseconds(500)
    }
}
