/// Whether a neighbour failed before its link last got its carrier, by the traces that the kernel keeps: it has no time
/// of the carrier.
///
/// With the carrier the kernel forgets all neighbours of the link (`neigh_carrier_down`, since Linux 4.20), so each
/// entry is from after the last loss. What failed between the loss and the return proves nothing: no one could answer.
package struct NeighbourDating: Sendable {
    /// The ages of a neighbour's entry. They do not count sleep.
    package struct Ages: Hashable, Sendable {
        /// Since the neighbour last answered. An entry counts as confirmed when it is made, and that some time ago.
        package let confirmed: Duration
        /// Since the entry got its state.
        package let updated: Duration

        package init(confirmed: Duration, updated: Duration) {
            self.confirmed = confirmed
            self.updated = updated
        }

        /// The ages so much earlier.
        package func before(_ time: Duration) -> Ages {
            Ages(confirmed: confirmed - time, updated: updated - time)
        }

        /// Whether the entry is older than its state: then it has failed before, since what is sent after a failure
        /// makes the kernel begin again.
        package func isAskedAgain(_ times: NeighbourTimes) -> Bool {
            let difference = sinceMade(times) - updated
            return difference < .milliseconds(-1_000) || difference > .milliseconds(1_000)
        }

        /// For how long the entry has existed, if its neighbour never answered; otherwise it is meaningless.
        func sinceMade(_ times: NeighbourTimes) -> Duration { confirmed - times.confirmedWhenMade }
    }

    /// Another neighbour of the link.
    package struct Other: Sendable {
        package let key: Neighbour.Key
        package let state: NeighbourState
        package let ages: Ages

        package init(key: Neighbour.Key, state: NeighbourState, ages: Ages) {
            self.key = key
            self.state = state
            self.ages = ages
        }
    }

    /// The neighbours of the link that have an entry.
    private let others: [Other]
    /// How often the link has got its carrier; `nil` if that is not known.
    private let carrierGains: UInt32?
    /// The link's own.
    private let times: [IPAddress.Family: NeighbourTimes]

    package init(
        among others: [Other], carrierGains: UInt32?, times: [IPAddress.Family: NeighbourTimes] = [:]
    ) {
        self.others = others
        self.carrierGains = carrierGains
        self.times = times
    }

    /// How long the kernel asks for the link's neighbours, and remembers them.
    package func times(_ family: IPAddress.Family) -> NeighbourTimes { times[family] ?? NeighbourTimes() }

    /// Whether a failure of this age is from before the carrier, as far as that shows.
    package func isFromBeforeCarrier(_ failed: Ages, _ family: IPAddress.Family) -> Bool {
        if let carrier = ageOfReports, failed.updated > carrier + Self.reportDelay { return true }
        // A link that got its carrier once may have been waited for, but then it is new to whoever asks.
        guard let carrierGains, carrierGains > 1, !hasAnswer(before: failed.updated) else { return false }
        // One attempt was all there was. With more of them, some may be from after the carrier.
        let attempt = failed.sinceMade(times(family)) - failed.updated
        return times(family).attempt.contains(attempt)
    }

    /// Once the carrier is back, the kernel reports the link's groups (`ipv6_mc_up`), which makes an entry for
    /// ff02::16, to which such reports are sent (MLDv2, RFC 3810).
    private var ageOfReports: Duration? {
        others.first { $0.key.address == Self.groupReports }?.ages.updated
    }

    /// Whether another neighbour answered before that: then the link had its carrier at that time, and has it since.
    private func hasAnswer(before age: Duration) -> Bool {
        others.contains { other in
            let made = other.ages.sinceMade(times(other.key.address.family)) - other.ages.updated
            return [.reachable, .stale, .delay, .probe].contains(other.state) && other.ages.confirmed > age
                // Who was heard of and never asked counts as confirmed before the entry was made.
                && !(.milliseconds(-500)..<(.milliseconds(500))).contains(made)
        }
    }

    private static let groupReports = IPAddress(ipv6: 0xff02_0000_0000_0000, 0x16)
    /// The reports follow the carrier within some hundredths of a second.
    private static let reportDelay = Duration.milliseconds(100)

    /// Whether a neighbour that is asked again may have failed only before the carrier.
    package func mayHaveFailedBeforeCarrier(_ asked: Ages, _ family: IPAddress.Family) -> Bool {
        ageOfReports.map { asked.sinceMade(times(family)) > $0 } ?? false
    }
}
