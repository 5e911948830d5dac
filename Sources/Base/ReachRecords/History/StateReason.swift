package import ReachCore

/// Why a recorded target was not reachable, or why that was not known: a word of a path, or one of a probe.
///
/// The two are different things, and some of their words are spelt alike: a path is `unreachable` because a route
/// rejects the packets, a probe's target because a host on the way said so.
package enum StateReason: Hashable, Sendable {
    /// Mostly one of ``Reason``; a newer version may have written another one.
    case path(String)
    /// Mostly one of ``ProbeFailure``, ``ProbeDoubt`` or ``ProbePause``.
    case probe(String)

    /// - Parameter target: The target as the history has it, which says whose word it is.
    package init(_ word: String, of target: String) {
        self = HistoryEntry.probe(ofTarget: target) == nil ? .path(word) : .probe(word)
    }

    package var word: String {
        switch self {
        case .path(let word), .probe(let word): word
        }
    }

    /// The layer that has failed.
    var layer: OutageLayer {
        switch self {
        case .path(let word): Reason(rawValue: word)?.layer ?? .target
        case .probe(let word): ProbeFailure(rawValue: word) == .nameNotResolved ? .name : .target
        }
    }

    /// The reason in words; the word itself if it is not known here.
    package var sentence: String {
        switch self {
        case .path(let word): Reason(rawValue: word)?.sentence ?? word
        case .probe(let word): ProbeFailure(rawValue: word)?.sentence ?? word
        }
    }
}

extension HistoryEntry {
    private static let probePrefix = "probe:"

    /// The target by which the history knows a probe.
    package static func target(ofProbe name: String) -> String { probePrefix + name }

    /// The name of the probe that a target of the history is; `nil` for other targets.
    package static func probe(ofTarget target: String) -> String? {
        target.hasUTF8Prefix(probePrefix) ? String(target.unicodeScalars.dropFirst(probePrefix.utf8.count)) : nil
    }
}

extension ProbeFailure {
    /// The failure in words, for people.
    package var sentence: String {
        switch self {
        case .timeout: "it did not answer in time"
        case .nameNotResolved: "the name could not be resolved"
        case .refused: "it refused the connection"
        case .unreachable: "it was reported unreachable"
        case .reset: "the connection was interrupted"
        case .tls: "the TLS handshake failed"
        case .certificate: "its certificate is not accepted"
        case .certificateEnding: "its certificate ends soon"
        case .pin: "its key is not one of those expected"
        case .protocolError: "it violated the protocol"
        case .status: "it answered with another status than expected"
        case .header: "a header is not what was expected"
        case .body: "the body is not what was expected"
        case .responseCode: "the name server answered with another code than expected"
        case .answer: "the name server's answer lacks what was expected"
        case .latency: "it answered too late"
        case .loss: "too many requests were lost"
        }
    }
}
