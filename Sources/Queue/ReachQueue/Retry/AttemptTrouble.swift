/// What went wrong in an attempt without an answer, as far as it is worth telling a person.
package enum AttemptTrouble: UInt8, Hashable, Sendable, CaseIterable {
    case noSuchName, nameServersSilent, nameServersFailed
    case refused, unreachable, noConnection, noAnswerInTime, cutOff
    case noTLS, badAnswer, proxyFailed, proxyRefused, proxyAuthentication
    /// The disk has no room for the answer.
    case diskFull

    /// As in "Attempt 5 failed (...)".
    package var words: String {
        switch self {
        case .noSuchName: "there is no such name"
        case .nameServersSilent: "no name server answered"
        case .nameServersFailed: "the name servers failed"
        case .refused: "the connection was refused"
        case .unreachable: "the host is unreachable"
        case .noConnection: "no connection was made in time"
        case .noAnswerInTime: "there was no answer in time"
        case .cutOff: "the connection was cut off"
        case .noTLS: "TLS failed"
        case .badAnswer: "the answer was not HTTP"
        case .proxyFailed: "the proxy did not answer"
        case .proxyRefused: "the proxy refused to connect"
        case .proxyAuthentication: "the proxy wants other credentials"
        case .diskFull: "the disk has no room for the answer"
        }
    }
}

/// How the last attempt failed.
struct AttemptFailure: Hashable, Sendable {
    /// The status of the answer; 0 if there was none.
    var status: Int16 = 0
    var trouble: AttemptTrouble?

    /// In a few words; `nil` where nothing is known.
    var words: String? { status > 0 ? "HTTP \(status)" : trouble?.words }
}
