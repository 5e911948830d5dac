/// The result of one attempt of a probe.
package struct ProbeResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The target was reached and fulfils all expectations.
        case ok
        /// The target, or the path to it, does not work as expected.
        case fail(ProbeFailure)
        /// This machine could not test the target. The result says nothing about the target.
        case inconclusive(ProbeDoubt)
    }

    package var outcome: Outcome
    /// Details in a sentence for people; empty if the outcome says everything.
    package var detail = ""
    /// When the attempt began.
    package var started: Instant
    /// The time from the beginning of the attempt to its end. With a burst that was answered, that of a single request:
    /// up to the first one, and the median round trip.
    package var duration: Duration
    package var phases = ProbePhases()
    /// The address that the attempt used; `nil` if it ended before.
    package var address: IPAddress?
    /// The interface to which the attempt was bound; `nil` if the kernel chose.
    package var interface: String?
    /// The status code of an HTTP response.
    package var httpStatus: Int?
    /// When the server's certificate expires.
    package var certificateEnd: Timestamp?
    /// Of an attempt that sent several requests.
    package var burst: ProbeBurst?

    package init(_ outcome: Outcome, detail: String = "", started: Instant, duration: Duration) {
        self.outcome = outcome
        self.detail = detail
        self.started = started
        self.duration = duration
    }

    /// The number of whole days from the attempt until the certificate expires; negative if it has expired.
    package var certificateDays: Int? {
        certificateEnd.map { end in
            // The times come from outside, and their difference may exceed 64 bits of nanoseconds.
            let left = Duration.nanoseconds(end.nanosecondsSince1970) - .nanoseconds(started.wall.nanosecondsSince1970)
            return Int((left / .seconds(86_400)).rounded(.down))
        }
    }
}

extension ProbeResult.Outcome {
    /// `ok`, `fail` or `inconclusive`.
    package var word: String {
        switch self {
        case .ok: "ok"
        case .fail: "fail"
        case .inconclusive: "inconclusive"
        }
    }

    /// The stable word for the reason; `nil` for `ok`.
    package var reason: String? {
        switch self {
        case .ok: nil
        case .fail(let failure): failure.rawValue
        case .inconclusive(let doubt): doubt.rawValue
        }
    }

    /// Creates an outcome from the words of a report; `nil` for an unknown outcome.
    package init?(word: String, reason: String?) {
        switch word {
        case "ok": self = .ok
        // A newer daemon may send reasons that are unknown here.
        case "fail": self = .fail(reason.flatMap { ProbeFailure(rawValue: $0) } ?? .protocolError)
        case "inconclusive": self = .inconclusive(reason.flatMap { ProbeDoubt(rawValue: $0) } ?? .localError)
        default: return nil
        }
    }
}

/// The reason why an attempt failed.
package enum ProbeFailure: String, Hashable, Sendable, CaseIterable {
    /// The attempt exceeded its time limit.
    case timeout
    /// The name has no address, or the name server gave no answer.
    case nameNotResolved = "name-not-resolved"
    /// The server refused the connection.
    case refused
    /// A router reported the target unreachable (EHOSTUNREACH, or ICMP).
    case unreachable
    /// The connection was interrupted.
    case reset
    /// The TLS handshake failed.
    case tls
    /// The certificate is not trusted, has expired, or is for another name.
    case certificate
    /// The certificate expires too soon.
    case certificateEnding = "certificate-ending"
    /// The certificate's key is not one of those expected.
    case pin
    /// The server violated the protocol.
    case protocolError = "protocol"
    /// The HTTP status is not one of those expected.
    case status
    /// A header is missing or has another value than expected.
    case header
    /// The body is not what was expected.
    case body
    /// The name server answered with another code than expected.
    case responseCode = "response-code"
    /// The name server's answer lacks what was expected.
    case answer
    /// The attempt succeeded but took longer than allowed.
    case latency
    /// More of a burst's requests were lost than allowed.
    case loss
}

/// The reason why an attempt proves nothing.
package enum ProbeDoubt: String, Hashable, Sendable, CaseIterable {
    /// The path to the target was lost during the attempt.
    case pathLost = "path-lost"
    /// The path to the target changed during the attempt.
    case pathChanged = "path-changed"
    /// The machine slept during the attempt.
    case slept
    /// This machine has no path to the target (ENETUNREACH, ENETDOWN).
    case noPath = "no-path"
    /// The interface does not exist, or has no address to send from (ENODEV, EADDRNOTAVAIL).
    case interface
    /// This process lacks the permission.
    case notPermitted = "not-permitted"
    /// Another problem of this machine, such as too many open files or too little memory.
    case localError = "local-error"
    /// The attempt was cancelled.
    case cancelled
}

/// What several echo requests of one attempt found: how many were lost, and how long the answers took.
package struct ProbeBurst: Hashable, Sendable {
    package var sent: Int
    package var lost: Int
    /// `nil` if no request was answered.
    package var trips: Trips?

    /// Round trips: the fastest and the slowest, and percentiles.
    package struct Trips: Hashable, Sendable {
        package var least: Duration
        package var median: Duration
        package var percentile90: Duration
        package var most: Duration

        /// How much longer than the median the slowest tenth took, as of a line.
        package var jitter: Duration { percentile90 - median }

        package init(least: Duration, median: Duration, percentile90: Duration, most: Duration) {
            (self.least, self.median, self.percentile90, self.most) = (least, median, percentile90, most)
        }
    }

    package init(sent: Int, lost: Int, trips: Trips?) {
        (self.sent, self.lost, self.trips) = (sent, lost, trips)
    }

    /// - Parameter answers: The round trips of the requests that were answered.
    package init(sent: Int, answers: [Duration]) {
        let sorted = answers.sorted()
        (self.sent, lost) = (sent, max(0, sent - sorted.count))
        guard let least = sorted.first, let most = sorted.last else { return }
        trips = Trips(
            least: least, median: sorted[sorted.count / 2], percentile90: sorted[sorted.count * 9 / 10], most: most)
    }

    /// The share of lost requests, 0 to 1; `nil` where none could be sent.
    package var lossShare: Double? { sent == 0 ? nil : Double(lost) / Double(sent) }
}
