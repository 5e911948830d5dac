/// What probes have proved about the path to the Internet, in NetworkManager's terms.
public enum Connectivity: String, Hashable, Sendable, CaseIterable {
    /// No probe has run.
    case unknown
    /// No probe could be sent.
    case none
    /// A captive portal requires a login first.
    case portal
    /// The probes were sent, but the Internet did not answer.
    case limited
    /// The Internet answers.
    case full
}

/// One check of a path.
package struct ConnectivityCheck: Hashable, Sendable {
    package let found: Connectivity
    /// When it ended.
    package let time: BootTime
    /// What led to it and what it found, where TCP connections led to it; otherwise `nil`.
    package let silence: SilenceEvidence?

    package init(found: Connectivity, at time: BootTime, silence: SilenceEvidence? = nil) {
        self.found = found
        self.time = time
        self.silence = silence
    }

    /// A sentence for people.
    package func text(at now: BootTime) -> String {
        let text = "reachd's last check: \(found.rawValue), \(DurationText.describe(max(.zero, now - time))) ago"
        return text + (silence.map { ": " + $0.text } ?? "") + "."
    }
}

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
