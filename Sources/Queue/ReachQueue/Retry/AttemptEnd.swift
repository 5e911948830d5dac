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
