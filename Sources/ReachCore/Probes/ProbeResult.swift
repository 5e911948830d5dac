/// What came of one attempt to reach what a probe names.
package struct ProbeResult: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        /// Reached, and all that was asked of it holds.
        case ok
        /// The other side, or the way to it, does not do what it should. Says nothing good about it.
        case fail(ProbeFailure)
        /// This machine was in no position to tell. Says nothing about the other side.
        case inconclusive(ProbeDoubt)
    }

    package var outcome: Outcome
    /// What exactly, in a sentence for people; empty where the outcome says it all.
    package var detail = ""
    /// When the attempt began.
    package var started: Instant
    /// From its beginning to its end.
    package var duration: Duration
    package var phases = ProbePhases()
    /// Whom it spoke to; `nil` if it never came so far.
    package var address: IPAddress?
    /// The interface that it was bound to; `nil` where the kernel chose.
    package var interface: String?
    /// Of HTTP.
    package var httpStatus: Int?
    /// When the certificate that was shown ends.
    package var certificateEnd: Timestamp?

    package init(_ outcome: Outcome, detail: String = "", started: Instant, duration: Duration) {
        self.outcome = outcome
        self.detail = detail
        self.started = started
        self.duration = duration
    }

    /// How many whole days the certificate is still good for, counted from the attempt; negative when it has ended.
    package var certificateDays: Int? {
        certificateEnd.map { end in
            // Whoever sent the times: their difference may be more than 64 bits of nanoseconds.
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

    /// The stable word for why; `nil` for `ok`.
    package var reason: String? {
        switch self {
        case .ok: nil
        case .fail(let failure): failure.rawValue
        case .inconclusive(let doubt): doubt.rawValue
        }
    }

    package init?(word: String, reason: String?) {
        switch word {
        case "ok": self = .ok
        // A newer daemon may know more reasons.
        case "fail": self = .fail(reason.flatMap { ProbeFailure(rawValue: $0) } ?? .protocolError)
        case "inconclusive": self = .inconclusive(reason.flatMap { ProbeDoubt(rawValue: $0) } ?? .localError)
        default: return nil
        }
    }
}

/// Why an attempt failed.
package enum ProbeFailure: String, Hashable, Sendable, CaseIterable {
    /// Not done in time.
    case timeout
    /// The name has no address, or the name server did not tell.
    case nameNotResolved = "name-not-resolved"
    /// The other side refused the connection.
    case refused
    /// Somebody on the way says that it cannot be reached (EHOSTUNREACH, or ICMP).
    case unreachable
    /// The connection broke off.
    case reset
    /// The TLS handshake failed.
    case tls
    /// The certificate is not trusted, has ended, or is for another name.
    case certificate
    /// The certificate is good for fewer days than it should be.
    case certificateEnding = "certificate-ending"
    /// The certificate's key is none of those expected.
    case pin
    /// The other side does not speak the protocol as it should.
    case protocolError = "protocol"
    /// The HTTP status is none of those expected.
    case status
    /// A header is missing or says something else.
    case header
    /// The body is not what was expected.
    case body
    /// The name server answered with another code than expected.
    case responseCode = "response-code"
    /// The name server's answer lacks what was expected.
    case answer
    /// All is as it should be, but took too long.
    case latency
}

/// Why an attempt proves nothing.
package enum ProbeDoubt: String, Hashable, Sendable, CaseIterable {
    /// The path to it went away.
    case pathLost = "path-lost"
    /// The path to it became another one.
    case pathChanged = "path-changed"
    /// The machine slept.
    case slept
    /// This machine has no way to it (ENETUNREACH, ENETDOWN).
    case noPath = "no-path"
    /// The interface does not exist, or has no address to send from (ENODEV, EADDRNOTAVAIL).
    case interface
    /// This process may not do it.
    case notPermitted = "not-permitted"
    /// Something else on this machine is wrong: out of descriptors, of memory.
    case localError = "local-error"
    /// It was ended before it was done.
    case cancelled
}
