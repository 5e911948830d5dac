internal import ReachCore
internal import ReachSerialization
internal import ReachTransfer
internal import Synchronization

/// The body of one request from a ``BodyStream``. It begins to read the source when it is first sent.
final class StreamedUpload: Sendable {
    private struct State {
        var pipe: BodyPipe?
        var work: Task<Void, Never>?
        var failure: RequestError?
        var isOver = false
    }

    private let stream: BodyStream
    private let state = Mutex(State())

    init(_ stream: BodyStream) { self.stream = stream }

    var body: TransferBody {
        .arriving(
            ArrivingBody(count: stream.length.map { UInt64(clamping: $0) }) { () throws(TransferFailure) in
                try self.open()
            })
    }

    /// Why the body cannot be sent, once that is so.
    var failure: RequestError? { state.withLock { $0.failure } }

    /// Whether it can be sent from its first byte, also if it was sent before.
    var canBeSent: Bool { state.withLock { Self.isComplete($0.pipe) || stream.isReopened } }

    private static func isComplete(_ pipe: BodyPipe?) -> Bool { pipe.map { !$0.hasBegun } ?? true }

    private func open() throws(TransferFailure) -> BodyPipe {
        let opened: (pipe: BodyPipe, before: State?)? = state.withLock { state in
            if let pipe = state.pipe, Self.isComplete(pipe) { return (pipe, nil) }
            guard !state.isOver, state.pipe == nil || stream.isReopened else {
                if state.failure == nil { state.failure = .bodyConsumed(for: "another attempt") }
                return nil
            }
            let (before, pipe) = (state, BodyPipe())
            state = State(pipe: pipe, work: Task { await self.produce(into: pipe) })
            return (pipe, before)
        }
        guard let opened else { throw TransferFailure(.badRequest, "the body cannot be read again") }
        opened.before.map(Self.stop)
        return opened.pipe
    }

    private func produce(into pipe: BodyPipe) async {
        do {
            try await stream.produceChecked { await pipe.write($0) }
            pipe.finish(.success(()))
        } catch {
            let failure = RequestError(ofBody: error)
            state.withLock { state in if state.pipe === pipe { state.failure = failure } }
            pipe.finish(.failure(error))
        }
    }

    /// Stops reading the source: the request is over.
    func end() {
        let before = state.withLock { state in
            state.isOver = true
            return state
        }
        Self.stop(before)
    }

    private static func stop(_ state: State) {
        state.work?.cancel()
        state.pipe?.abandon()
    }
}

extension RequestError {
    /// The error of a request whose body is needed again, but was read.
    ///
    /// - Parameter purpose: What it is needed for.
    static func bodyConsumed(for purpose: String) -> RequestError {
        RequestError(
            .request, "body-consumed",
            "its body is needed again, for \(purpose), and can be read only once: "
                + "send one that is spooled, or made by a function"
        )
    }

    /// The error for what reading a body threw: a stream may throw anything.
    init(ofBody error: any Error) {
        switch error {
        case let error as RequestError: self = error
        case let error as BodyFileError: self.init(error)
        case let error as BodyStreamError: self.init(.request, "body-length", error.description)
        default: self.init(.local, "unreadable-body", "the body cannot be read: \(DisplayText.sanitized("\(error)"))")
        }
        if underlyingError == nil { underlyingError = error is RequestError ? nil : error }
    }
}
