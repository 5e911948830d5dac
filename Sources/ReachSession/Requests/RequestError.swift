public import ReachSerialization

/// Why a request has no answer, or one that was not wanted: sorted by what the caller does next.
public struct RequestError: Error, Sendable, CustomStringConvertible {
    /// What the caller does next.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The request cannot be sent as it is: change it. Told before anything is sent, where it can be.
        case request
        /// The session does not take it now: it is full, or its disk is. Try again later.
        case notTaken = "not-taken"
        /// It was cancelled, by its task, by a hook, or by a newer request of the same name.
        case cancelled
        /// Its time was over before it could be sent, or before it came to an end.
        case expired
        /// The destination did not answer as often as it was allowed to fail: try again later.
        case destination
        /// Who answered is not to be trusted: do not try again by itself.
        case security
        /// The server answered, and not with what was wanted: ``RequestError/response`` has what it said.
        case response
        /// It may have arrived, and may not be sent again: find out before trying again.
        case indeterminate
        /// A file of this machine, or its memory: try again when that is mended.
        case local
        /// The session was closed. A request of a session with a directory goes on in the next run.
        case closed
    }

    /// What the caller does next.
    public let kind: Kind
    /// A stable word for programs.
    public let word: String
    /// A sentence for people, safe to show.
    public let description: String
    /// What the server said, where it said something: also the body that was refused, read by the serializer where it could.
    public var response: RequestResponse?
    /// What the serializer found wrong with the response.
    public var responseError: ResponseError?
    /// Where a download can be gone on with.
    public var resumeData: ResumeData?

    init(_ kind: Kind, _ word: String, _ description: String) {
        self.kind = kind
        self.word = word
        self.description = description
    }
}
