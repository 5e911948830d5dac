package import ReachCore

/// How an attempt ended, as whoever made it tells.
package enum AttemptEnd: Hashable, Sendable {
    /// The whole answer is here. Whether its status is one that the request accepts, its specification says.
    case answered(RequestResult, isAccepted: Bool)
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
        case file
    }

    package var kind: Kind
    /// The clock is known to be wrong: not set by anything, or before 2024.
    package var isClockUnset: Bool
    /// Whether the first byte of the request had left; `nil` where ``QueueInput/requestSent(_:)`` says so.
    package var isSent: Bool?

    package init(_ kind: Kind, isClockUnset: Bool = false, isSent: Bool? = nil) {
        self.kind = kind
        self.isClockUnset = isClockUnset
        self.isSent = isSent
    }

    /// - Parameters:
    ///   - code: libcurl's number (CURLE_*).
    ///   - systemError: The system's error number below it, 0 if there is none.
    package init(code: Int, systemError: Int32 = 0, isClockUnset: Bool = false) {
        let kind = Self.kind(of: code)
        let isLocal = kind == .transient && Self.localErrors.contains(systemError)
        // libcurl's 60 is for all that is wrong with a certificate, its dates included.
        self.init(isLocal ? .localNetwork : code == 60 ? .certificateTime : kind, isClockUnset: isClockUnset)
    }

    /// ENODEV, EADDRNOTAVAIL, ENETDOWN, ENETUNREACH: this machine could not send. EHOSTUNREACH is not among them, as it
    /// may come from a router far away.
    private static let localErrors: Set<Int32> = [19, 99, 100, 101]

    private static func kind(of code: Int) -> Kind {
        switch code {
        case 45: .interface
        case 2, 27, 42: .local
        case 60, 83, 91: .certificate
        case 90: .pin
        case 3, 4, 43: .invalid
        case 47: .redirects
        case 61, 63: .unreadable
        case 78: .refused
        case 23, 26, 37, 58, 77: .file
        // 1 is said of an answer that is no HTTP, too, and the scheme of a request was checked before.
        // 5, 6, 7, 16, 18, 28, 35, 52, 55, 56, 92, and those that a newer libcurl may add.
        default: .transient
        }
    }
}
