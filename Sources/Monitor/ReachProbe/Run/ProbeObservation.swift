package import ReachCore

/// The raw outcome of an attempt, before ``ProbeJudge`` evaluates it.
@dynamicMemberLookup
package struct ProbeObservation: Hashable, Sendable {
    package enum Ending: Hashable, Sendable {
        /// An answer came, whatever its content.
        case answered
        case failed(ProbeFailure, String)
        case doubtful(ProbeDoubt, String)
    }

    package var ending: Ending
    /// Its result, but for the outcome.
    package var result: ProbeResult
    package var headers: [HeaderField] = []
    /// The beginning of the body: the part that conditions are checked against.
    package var body: [UInt8] = []
    /// Response code of a DNS answer (RFC 1035 4.1.1).
    package var responseCode: UInt8?
    package var answers: [String] = []

    package init(_ ending: Ending, started: Instant, duration: Duration) {
        self.ending = ending
        result = ProbeResult(.ok, started: started, duration: duration)
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<ProbeResult, Value>) -> Value {
        get { result[keyPath: path] }
        set { result[keyPath: path] = newValue }
    }
}
