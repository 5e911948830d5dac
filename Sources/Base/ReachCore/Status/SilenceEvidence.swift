/// Why a path is silent: what TCP connections sent and what a test sent is not answered.
package struct SilenceEvidence: Hashable, Sendable {
    /// Transmissions of other programs that were not answered, repetitions included; 0 where those of the interface's
    /// other family led to the test.
    package var transmissions: Int
    /// The different addresses that they went to.
    package var destinations: Int
    /// The time over which nothing came.
    package var duration: Duration
    /// Handshakes with the endpoints' servers that were not answered.
    package var handshakes: Int

    package init(transmissions: Int, destinations: Int, duration: Duration, handshakes: Int) {
        self.transmissions = transmissions
        self.destinations = destinations
        self.duration = duration
        self.handshakes = handshakes
    }

    /// A part of a sentence for people.
    package var text: String {
        let sockets = "\(transmissions) transmissions of TCP to \(destinations) addresses and "
        return "for \(DurationText.describe(duration)) nothing answered \(transmissions > 0 ? sockets : "")"
            + "\(handshakes) attempts to connect to endpoints"
    }
}
