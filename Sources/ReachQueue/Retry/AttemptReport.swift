/// How an attempt ended, as whoever made it tells.
package enum AttemptEnd: Hashable, Sendable {
    /// The whole answer is here. Whether its status is one that the request accepts, its specification says.
    case answered(RequestResult, isAccepted: Bool)
    case failed(TransferFault)
}

/// What the server answered.
package struct RequestResult: Hashable, Sendable {
    package var status: Int
    package var headers: [QueuedRequest.Header]
    /// The answer's body: in the queue's file, in a spool file, or where the client wanted it.
    package var body: RequestBody

    package init(status: Int, headers: [QueuedRequest.Header] = [], body: RequestBody = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header of that name, in any case.
    package func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name }?.value
    }
}

/// Why there is no answer.
package struct TransferFault: Hashable, Sendable {
    /// libcurl's number (CURLE_*).
    package var code: Int
    /// The system's error number below it, 0 if there is none.
    package var systemError: Int32
    /// The clock is known to be wrong: not set by anything, or before 2024.
    package var isClockUnset: Bool

    package init(code: Int, systemError: Int32 = 0, isClockUnset: Bool = false) {
        self.code = code
        self.systemError = systemError
        self.isClockUnset = isClockUnset
    }
}
