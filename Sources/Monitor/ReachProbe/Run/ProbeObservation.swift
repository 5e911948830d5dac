package import ReachCore

/// The raw outcome of an attempt, before ``ProbeJudge`` evaluates it.
package struct ProbeObservation: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        /// An answer came, whatever its content.
        case answered
        case failed(ProbeFailure, String)
        case doubtful(ProbeDoubt, String)
    }

    package var ending: Ending
    package var started: Instant
    package var duration: Duration
    package var phases = ProbePhases()
    package var address: IPAddress?
    package var interface: String?
    /// HTTP status of the last response, after any redirects that were followed.
    package var httpStatus: Int?
    package var headers: [HeaderField] = []
    /// The beginning of the body: the part that conditions are checked against.
    package var body: [UInt8] = []
    package var certificateEnd: Timestamp?
    /// Response code of a DNS answer (RFC 1035 4.1.1).
    package var responseCode: UInt8?
    package var answers: [String] = []
    package var burst: ProbeBurst?

    package init(_ ending: Ending, started: Instant, duration: Duration) {
        self.ending = ending
        self.started = started
        self.duration = duration
    }
}
