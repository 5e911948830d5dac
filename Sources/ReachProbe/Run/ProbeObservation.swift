package import ReachCore

/// What an attempt saw, before anybody judged it.
package struct ProbeObservation: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        /// There was an answer, whatever it says.
        case answered
        case failed(ProbeFailure, String)
        case doubtful(ProbeDoubt, String)
    }

    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package var ending: Ending
    package var started: Instant
    package var duration: Duration
    package var phases = ProbePhases()
    package var address: IPAddress?
    package var interface: String?
    /// Of HTTP; of the last answer where redirects were followed.
    package var httpStatus: Int?
    package var headers: [Header] = []
    /// As much of it as is looked at.
    package var body: [UInt8] = []
    package var certificateEnd: Timestamp?
    /// Of DNS.
    package var responseCode: UInt8?
    package var answers: [String] = []

    package init(_ ending: Ending, started: Instant, duration: Duration) {
        self.ending = ending
        self.started = started
        self.duration = duration
    }
}

/// What became of the path to a probe's target while an attempt was under way.
package enum PathEvidence: Hashable, Sendable {
    case same
    case lost
    case changed
    /// The machine slept, and with it the attempt.
    case slept
}
