internal import ReachCore

/// Results of checks in a row, and whether they are enough to be believed.
struct ResultStreak {
    private var proofs = 0
    private var failures = 0
    /// When the first of the failed checks in a row began.
    private(set) var failingSince: BootTime?
    /// Failed checks since the last proof that do not count, since sockets received data meanwhile.
    private(set) var forgiven = 0
    private(set) var lastProof: BootTime?
    private(set) var isProofSecure = false
    /// Whether the next result is believed at once: the first of all, and the first after a change of the network.
    private var believesNext = true

    /// Whether no check has failed since the last proof.
    var isProved: Bool { !believesNext && failures == 0 }

    /// Whether the last check failed.
    var isFailing: Bool { failures > 0 }

    /// Whether one more failure ends what was proved.
    ///
    /// - Parameter strikes: The failures in a row that do.
    func wouldEnd(by strikes: Int) -> Bool { !believesNext && failures + 1 >= strikes }

    /// - Parameter needed: The proofs in a row that are believed.
    /// - Returns: Whether this one is.
    mutating func noteProof(isSecure: Bool, of needed: Int, at now: BootTime) -> Bool {
        (failures, forgiven) = (0, 0)
        (lastProof, isProofSecure) = (now, isSecure)
        proofs += 1
        defer { believesNext = false }
        return believesNext || proofs >= needed
    }

    /// - Parameters:
    ///   - began: When the check began.
    ///   - strikes: The failures in a row that are believed.
    /// - Returns: Whether this one is.
    mutating func noteFailure(since began: BootTime?, of strikes: Int) -> Bool {
        if failures == 0 { failingSince = began }
        proofs = 0
        failures += 1
        defer { believesNext = false }
        return believesNext || failures >= strikes
    }

    /// Notes a failure that does not count.
    mutating func forgive() {
        forgiven += 1
        proofs = 0
    }

    /// Notes what is as good as so many failures.
    mutating func condemn(with strikes: Int) {
        failures = max(failures, strikes)
        proofs = 0
        believesNext = false
    }

    /// Believes the next result at once.
    mutating func restart() {
        (failures, forgiven) = (0, 0)
        believesNext = true
    }
}

/// How often full connectivity returned and did not last.
struct Relapses {
    /// In a row.
    private var count = 0
    /// When connectivity last returned to full; `nil` if it was never lost, or is lost now.
    private var returned: BootTime?

    /// The proofs that a return takes beyond the usual ones.
    var extraProofs: Int { min(count, ValidationOptions.mostExtraProofs) }

    mutating func noteReturn(at now: BootTime) { returned = now }

    mutating func noteLoss(at now: BootTime) {
        let isRelapse = returned.map { now - $0 < ValidationOptions.shortReturn } ?? false
        count = isRelapse ? count + 1 : 0
        returned = nil
    }
}
