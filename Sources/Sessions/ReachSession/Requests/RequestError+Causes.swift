internal import ReachCore
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

extension RequestError {
    static let cancelled = RequestError(.cancelled, "cancelled", "the request was cancelled")
    static let superseded = RequestError(.cancelled, "superseded", "a newer request of the same name took its place")
    static let notStored = RequestError(.notTaken, "not-stored", "the cache answered the request, which was not stored")
    static let closed = RequestError(.closed, "closed", "the session was closed")

    init(_ error: RequestValidationError) {
        self.init(.request, "bad-\(error.field.rawValue)", error.description)
    }

    init(_ error: RequestSerializationError) {
        if case .file = error {
            self.init(.local, error.word, error.description)
        } else {
            self.init(.request, error.word, error.description)
        }
        if case .custom(let failure) = error { underlyingError = failure.error }
    }

    /// The error for what encoding a value threw: its own error, or one of the serializer's.
    init(ofEncoding error: any Error) {
        if let error = error as? RequestSerializationError {
            self.init(error)
        } else {
            self.init(.request, "unencodable", EncodingFault.sentence(error))
            underlyingError = error
        }
    }

    /// The error for what a caller's closure threw while it built a body.
    init(ofBuilding error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as RequestSerializationError: self.init(error)
        case let error as BodyFileError:
            self.init(error)
            underlyingError = error
        default:
            self.init(.local, "unbuilt-body", "the body was not built: \(DisplayText.sanitized("\(error)"))")
            underlyingError = error
        }
    }

    init(_ error: HTTPHeaderError) { self.init(.request, "bad-header", error.description) }

    /// An interceptor's error; one that is a `RequestError` itself is the request's.
    init(ofInterceptor error: any Error) {
        if let error = error as? RequestError {
            self = error
        } else {
            self.init(.interceptor, "interceptor", "its interceptor failed: \(error)")
            underlyingError = error
        }
    }

    /// What the hook for challenges threw; a `RequestError` is the request's.
    init(ofChallenge error: any Error) {
        if let error = error as? RequestError {
            self = error
        } else {
            self.init(
                .response, "challenge", "the server's challenge was not answered: \(DisplayText.sanitized("\(error)"))")
            underlyingError = error
        }
    }

    init(_ error: BodyFileError) { self.init(.local, "unreadable-file", error.description) }

    init(_ error: QueueStoreError) { self.init(.notTaken, "storage", error.description) }

    init(_ refusal: QueueReply.Refusal) {
        switch refusal {
        case .queueFull, .userLimit: self.init(.notTaken, refusal.rawValue, "the session holds as much as it may")
        case .storage: self.init(.notTaken, refusal.rawValue, "the session's file cannot be written")
        }
    }

    /// The error of a request that the queue gave up.
    ///
    /// - Parameter failure: The failure of the last attempt.
    init(_ death: DeathReason, _ failure: TransferFailure?) {
        let text = failure?.message
        let word = failure?.reason.rawValue ?? death.rawValue
        switch death {
        case .expired: self.init(.expired, "expired", "its time was over" + (text.map { ": \($0)" } ?? ""))
        case .exhausted: self.init(.destination, word, text ?? "the destination failed too often")
        case .refused, .authentication: self.init(.response, word, text ?? "the server refused it")
        case .untrusted, .pinMismatch: self.init(.security, word, text ?? "the server is not trusted")
        case .invalid: self.init(.request, word, text ?? "it cannot be sent as it is")
        case .redirects: self.init(.response, word, text ?? "a redirect is not followed")
        case .unreadable: self.init(.response, word, text ?? "the answer cannot be read")
        case .quota: self.init(.response, word, text ?? "the answer is larger than what may be kept")
        case .file: self.init(.local, word, text ?? "a file that it needs cannot be used")
        case .indeterminate:
            self.init(.indeterminate, "indeterminate", "it may have arrived" + (text.map { ": \($0)" } ?? ""))
        case .dependency: self.init(.destination, "dependency", "the request that it depends on failed")
        }
    }

    /// The error of a response that the serializer rejected.
    init(_ error: ResponseError, _ response: RequestResponse) {
        self.init(.response, error.word, error.description)
        self.response = response
        responseError = error
        underlyingError = error.cause
    }
}

/// Sentences for what encoding throws.
private enum EncodingFault {
    /// The reason, with the place in the value where there is one.
    static func sentence(_ error: any Error) -> String {
        guard case EncodingError.invalidValue(_, let context) = error else {
            return "the value cannot be encoded: \(DisplayText.sanitized("\(error)"))"
        }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        let text = DisplayText.sanitized("\(place.isEmpty ? "" : place + ": ")\(context.debugDescription)")
        return "the value cannot be encoded: \(text)"
    }
}
