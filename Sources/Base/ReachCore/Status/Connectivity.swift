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
    func text(at now: BootTime) -> String {
        let text = "reachd's last check: \(found.rawValue), \(DurationText.describe(max(.zero, now - time))) ago"
        return text + (silence.map { ": " + $0.text } ?? "") + "."
    }
}
