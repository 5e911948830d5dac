/// How often paths are validated, and how quickly results are believed.
package struct ValidationOptions: Hashable, Sendable {
    /// Between two checks of a path that works. NetworkManager's default.
    package var interval: Duration = .seconds(300)
    /// After the first sign of trouble; doubles up to ``interval``, as NetworkManager's and Android's do.
    package var firstRetry: Duration = .seconds(1)
    /// So many results in a row that prove something else end "full" (VintageNet's three).
    package var strikesToDemote = 3
    /// So many proofs in a row bring "full" back. A proof is no accident, so one is enough (VintageNet, Android): but see
    /// ``shortReturn``.
    package var strikesToPromote = 1
    /// What checks may send and receive in a day by a metered interface; 0 is without limit.
    package var meteredBytesPerDay = 512 * 1024
    /// What one check is expected to send and receive, before the first of a path was measured.
    package var expectedBytes = 8192

    /// How recently a socket must have received something for a path to be known to work: shorter than the interval, so
    /// that what a path did long ago does not speak for it.
    package static let evidenceWindow: Duration = .seconds(60)
    /// So long after the last proof a check is made though sockets do well: somebody who pays again and again to get
    /// past a portal moves bytes too.
    package static let longestTrust: Duration = .seconds(3600)
    /// While a path does not work, how often to look whether sockets receive something again.
    package static let lookInterval: Duration = .seconds(1)
    /// Checks that were asked for from outside come at most this often (scheduling.md 4.4).
    package static let shortestGap: Duration = .seconds(5)
    /// When a path that came back to "full" is lost again within this time, it takes one more proof in a row to bring it back
    /// the next time, up to ``mostExtraProofs``: of a path that loses half of all packets every other check is a proof.
    package static let shortReturn: Duration = .seconds(600)
    package static let mostExtraProofs = 5
    /// Between those: so many do not delay the return of a path that is well by more than about a second.
    package static let extraProofGap: Duration = .milliseconds(250)
    /// Between two checks that looks brought about in vain; doubles up to ``interval``.
    package static let firstTriggerGap: Duration = .seconds(2)

    package init() {}
}
