package import ReachCore

/// How an attempt ended, as the executor reports it.
package enum AttemptEnd: Hashable, Sendable {
    /// The whole answer arrived. The specification says which statuses are accepted.
    case answered(RequestResult, isAccepted: Bool)
    /// The same, but a redirect in the clear led to the server that answered: a portal may have sent it.
    case answeredElsewhere(RequestResult, isAccepted: Bool)
    case failed(AttemptFault)
}

/// What the server answered.
package struct RequestResult: Hashable, Sendable {
    package var status: Int
    package var headers: [HeaderField]
    /// The answer's body: in the queue's file, in a spool file, or where the client wanted it.
    package var body: RequestBody

    package init(status: Int, headers: [HeaderField] = [], body: RequestBody = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// What it takes of its owner's room: its headers, one a line, and its body unless that is a file of the owner's.
    package var bytesHeld: Int64 {
        headers.reduce(body.bytesHeld) { $0 + Int64($1.lineBytes) }
    }

    /// The first header of that name, in lower case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}

/// Why there is no answer.
package struct AttemptFault: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// Names, connections, TLS, time-outs, cut answers: the network's fault or the destination's.
        case transient
        /// This machine could not send: no route, no device, no address.
        case localNetwork = "network"
        /// The attempt could not be tied to its interface.
        case interface
        /// Memory, or an end that was this program's own.
        case local
        /// A certificate that is not trusted.
        case certificate
        /// One that is not valid at this time: by a clock that may be wrong.
        case certificateTime = "certificate-time"
        case pin
        case invalid
        case redirects
        case unreadable
        /// The answer does not fit into what its owner may keep.
        case quota
        case refused
        /// The proxy that the configuration names for all requests does not let this machine pass.
        case proxy
        case file
        /// The disk has no room for the answer.
        case disk
    }

    package var kind: Kind
    /// The clock is known to be wrong: not set by anything, or before 2024.
    package var isClockUnset: Bool
    /// Whether the first byte of the request had left; `nil` where ``QueueInput/requestSent(_:)`` says so.
    package var isSent: Bool?
    /// Whether the other side reacted: it refused, or what it sent was of no use. So the path works.
    package var isAnswered: Bool
    /// What people read about it; `nil` where the kind says all.
    package var trouble: AttemptTrouble?

    package init(_ kind: Kind, isClockUnset: Bool = false, isSent: Bool? = nil, isAnswered: Bool = false) {
        self.kind = kind
        self.isClockUnset = isClockUnset
        self.isSent = isSent
        self.isAnswered = isAnswered
    }
}

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
