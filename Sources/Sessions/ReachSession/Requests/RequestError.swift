public import ReachSerialization

/// The reason why a request has no answer, or one that was rejected. Its kind says what the caller does next.
public struct RequestError: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors, by what the caller does next.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The request cannot be sent as it is: change it. Thrown before anything is sent, where possible.
        case request
        /// The session cannot accept the request now: it is full, or its disk is. Try again later.
        case notTaken = "not-taken"
        /// The request was cancelled, by its task, by a hook, or by a newer request of the same name.
        case cancelled
        /// The request expired before it was sent, or before it was complete.
        case expired
        /// The destination failed as often as the request allows: try again later.
        case destination
        /// The server is not trusted: do not try again automatically.
        case security
        /// The server's answer was rejected: ``RequestError/response`` holds it.
        case response
        /// The request may have arrived, and is not safe to repeat: find out before trying again.
        case indeterminate
        /// A file or the memory of this machine failed: try again when that is fixed.
        case local
        /// No network satisfies the request's constraint, and it does not wait for one
        /// (``RequestOptions/waitsForConnectivity``): try again when the network is back.
        case offline
        /// The request's interceptor failed, or gave the request up: ``RequestError/underlyingError`` has its error.
        case interceptor
        /// The session was closed. A request of a session with a directory continues in the next run.
        case closed
    }

    /// The kind of error, which says what the caller does next.
    public let kind: Kind
    /// A stable word for programs.
    public let word: String
    /// A sentence for people, safe to display.
    public let description: String
    /// The server's response, where there is one, including the rejected body, decoded by the serializer where
    /// possible.
    public var response: RequestResponse?
    /// The serializer's reason for rejecting the response.
    public var responseError: ResponseError?
    /// The point from which a download can resume.
    public var resumeData: ResumeData?
    /// What other code threw: a `DecodingError`, an `EncodingError`, the error of a caller's own closure, or an
    /// interceptor's.
    public var underlyingError: (any Error)?

    /// Creates an error, for tests of the code that handles it.
    ///
    /// - Parameters:
    ///   - kind: What the caller does next.
    ///   - word: A stable word for programs, such as `connection-refused`.
    ///   - description: A sentence for people.
    ///   - response: The server's response.
    ///   - underlyingError: What other code threw.
    public init(
        kind: Kind, word: String, description: String, response: RequestResponse? = nil,
        underlyingError: (any Error)? = nil
    ) {
        self.init(kind, word, description)
        self.response = response
        self.underlyingError = underlyingError
    }

    init(_ kind: Kind, _ word: String, _ description: String) {
        self.kind = kind
        self.word = word
        self.description = description
    }
}
