/// How often paths are validated, and how quickly results are believed.
package struct ValidationOptions: Hashable, Sendable {
    /// Time between checks of a working path. NetworkManager's default.
    package var interval: Duration = .seconds(300)
    /// Time to the first retry after a failed check. It doubles up to ``interval``, as in NetworkManager and Android.
    package var firstRetry: Duration = .seconds(1)
    /// Consecutive failed checks that end full connectivity (three, as in VintageNet).
    package var strikesToDemote = 3
    /// Consecutive proofs that restore full connectivity. A proof is no accident, so one is enough (as in VintageNet
    /// and Android); but see ``shortReturn``.
    package var strikesToPromote = 1
    /// Whether the APIs of portals that networks announce are asked (RFC 8908).
    package var asksPortals = true
    /// Bytes that checks may send and receive per day by a metered interface; 0 means no limit.
    package var meteredBytesPerDay = 512 * 1024
    /// Bytes that a check is expected to send and receive, until one was measured.
    package var expectedBytes = 8192

    /// How recently a socket must have received data to prove that a path works. Shorter than the interval, so that old
    /// traffic proves nothing.
    package static let evidenceWindow: Duration = .seconds(60)
    /// Longest time without a check, even if sockets receive data: a client that gets past a portal only with payments,
    /// again and again, has traffic too.
    package static let longestTrust: Duration = .seconds(3600)
    /// How many failed checks in a row do not end full connectivity because sockets received data meanwhile. At 50 %
    /// loss every other check fails, so that more in a row are rare; hosts that a firewall or a portal lets pass
    /// deceive it for about five minutes, the sum of the retries' waits.
    package static let mostForgiven = 8
    /// The same where no name is resolved, which connections that last say little about.
    package static let mostForgivenNames = 2
    /// Time between traffic samples while a path does not work.
    package static let sampleInterval: Duration = .seconds(1)
    /// Shortest time between checks that failed requests trigger, so that many failures do not flood the endpoints.
    package static let shortestGap: Duration = .seconds(5)
    /// A path that is lost again within this time after its return needs one more consecutive proof for the next
    /// return, up to ``mostExtraProofs``: on a path that loses half of all packets every other check succeeds.
    package static let shortReturn: Duration = .seconds(600)
    package static let mostExtraProofs = 5
    /// Time between those extra checks: short, so that they delay a true return by little more than a second.
    package static let extraProofGap: Duration = .milliseconds(250)
    /// Time between failed checks that traffic triggered. It doubles up to ``interval``.
    package static let firstTriggerGap: Duration = .seconds(2)

    /// Whether TCP connections are watched for silence, unless an option says otherwise.
    package static let detectsSilence = true

    package init() {}

    /// The longest time that checks take to decide that a working path is lost, from the first doubt on.
    ///
    /// - Parameter timeout: The longest time for one check.
    package func longestDecision(timeout: Duration) -> Duration {
        let strikes = min(strikesToDemote, 16)
        // The waits between failed checks double, and vary by a twentieth.
        let waits = firstRetry * ((1 << (strikes - 1)) - 1) * 21 / 20
        return Self.shortestGap + timeout * strikes + waits + .seconds(1)
    }
}
