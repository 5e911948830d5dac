internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// The body of a request, once it can be queued.
struct PreparedBody {
    /// What the queue keeps.
    var queued: RequestBody
    /// What is sent in place of that: it is in this process only.
    var sent: TransferBody?
    /// The source that is read while it is sent.
    var upload: StreamedUpload?

    fileprivate var isNone: Bool { queued == .none && sent == nil && upload == nil }
}

/// Converts bodies into the form that the queue accepts. Confined to the loop; a separate thread writes the files.
final class BodyPreparer {
    /// The largest body kept in the queue's own file; a longer one gets a file in the spool.
    private static let heldBytes: Int64 = 1 << 20
    /// Stands for a body that is read from its task's request while it is sent: a queue in memory keeps no copy.
    static let streamPath = ""

    private let thread = SerialThread.files
    private let replies: LoopReplies
    /// The bodies of requests that are not over.
    private var kept: [RequestID: PreparedBody] = [:]
    /// The copying of streams to files, by their tasks' numbers.
    private var copies: [UInt64: Task<Void, Never>] = [:]

    init(_ loop: EventLoop) { replies = LoopReplies(loop: loop) }

    deinit { endAll() }

    /// Prepares a task's body.
    ///
    /// - Parameters:
    ///   - spool: The queue's store for long bodies; `nil` where the queue is in memory.
    ///   - limit: The most bytes of a stream that is copied to a file.
    ///   - reply: Called once, on the loop.
    func prepare(
        _ task: RequestTask, spool: QueueSpool?, limit: Int64,
        reply answer: @escaping (Result<PreparedBody, RequestError>) -> Void
    ) {
        let reply: (Result<RequestBody, RequestError>) -> Void = { answer($0.map { PreparedBody(queued: $0) }) }
        switch task.plan.request.body {
        case .none: reply(.success(.none))
        case .bytes(let bytes):
            guard let spool, bytes.count > Self.heldBytes else { return reply(.success(.inline(bytes))) }
            let name = Self.newName()
            spool.append(bytes, to: name) { result in
                switch result {
                case .success(let count): Self.seal(name, count, in: spool, reply)
                case .failure(let error):
                    spool.remove(name)
                    reply(.failure(RequestError(.notTaken, "storage", error.description)))
                }
            }
        case .file(let path, let length): reply(.success(.file(path: path, bytes: length)))
        case .multipart(let body):
            guard let spool else {
                return answer(.success(Self.streamed(.stream(StreamedBody(body)), count: body.contentLength)))
            }
            store(body, in: spool, reply)
        case .stream(let stream) where spool != nil || stream.isSpooled:
            copy(stream, of: task.identifier, in: spool, limit, answer)
        case .stream(let stream):
            let upload = StreamedUpload(stream)
            var body = Self.streamed(upload.body, count: stream.length ?? 0)
            body.upload = upload
            answer(.success(body))
        }
    }

    private static func streamed(_ body: TransferBody, count: Int64) -> PreparedBody {
        PreparedBody(queued: .file(path: streamPath, bytes: count), sent: body)
    }

    /// Copies a stream to a file, so that it can be sent again, and by a later run.
    private func copy(
        _ stream: BodyStream, of number: UInt64, in spool: QueueSpool?, _ limit: Int64,
        _ reply: @escaping (Result<PreparedBody, RequestError>) -> Void
    ) {
        let name = Self.newName()
        let answer = replies.expect { [weak self] (result: Result<(file: SpooledBody, count: Int64), RequestError>) in
            self?.copies[number] = nil
            switch result {
            case .success(let copy):
                guard let spool else {
                    return reply(.success(Self.streamed(copy.file.body(count: copy.count), count: copy.count)))
                }
                Self.seal(name, copy.count, in: spool) { reply($0.map { PreparedBody(queued: $0) }) }
            case .failure(let error):
                spool?.remove(name)
                reply(.failure(error))
            }
        }
        copies[number] = Task { [path = spool?.path(name)] in
            do {
                let file = try path.map { path throws(SystemError) in try SpooledBody(at: path) } ?? SpooledBody()
                answer(.success((file, try await file.copy(stream, limit: limit))))
            } catch {
                answer(.failure(RequestError(ofBody: error)))
            }
        }
    }

    private static func newName() -> String { "body-" + UniqueKey.make() }

    /// Copies a form for a later run.
    private func store(
        _ body: MultipartBody, in spool: QueueSpool, _ reply: @escaping (Result<RequestBody, RequestError>) -> Void
    ) {
        if body.contentLength <= Self.heldBytes {
            let answer = replies.expect { (result: Result<[UInt8], RequestError>) in reply(result.map { .inline($0) }) }
            return thread.run { answer(Self.read(body)) }
        }
        let name = Self.newName()
        let path = spool.path(name)
        let answer = replies.expect { (failure: RequestError?) in
            guard let failure else { return Self.seal(name, body.contentLength, in: spool, reply) }
            unlink(path)
            reply(.failure(failure))
        }
        thread.run { answer(Self.write(body, to: path)) }
    }

    /// Syncs a spooled body to disk: the request's row must not refer to bytes that a power failure would lose.
    private static func seal(
        _ name: String, _ count: Int64, in spool: QueueSpool,
        _ reply: @escaping (Result<RequestBody, RequestError>) -> Void
    ) {
        spool.seal(name) { number in
            guard number == 0 else {
                spool.remove(name)
                return reply(.failure(RequestError(.notTaken, "storage", SystemError.text(number))))
            }
            reply(.success(.spooled(name: name, bytes: count)))
        }
    }

    // MARK: - Keeping and removing

    func keep(_ body: PreparedBody, for id: RequestID) {
        // Most requests have none.
        if !body.isNone { kept[id] = body }
    }

    /// What is sent in place of a queued body that only this process has.
    func sent(of id: RequestID) -> TransferBody? { kept[id]?.sent }

    /// The source of a body that is read while it is sent.
    func upload(of id: RequestID) -> StreamedUpload? { kept[id]?.upload }

    /// Removes the body of a request that is over.
    ///
    /// - Parameter spool: The spool from which the body is removed; `nil` for a request that may be sent again. The
    ///   queue removes unused files later in any case.
    func forget(_ id: RequestID, spool: QueueSpool?) {
        if !kept.isEmpty, let body = kept.removeValue(forKey: id) { drop(body, spool: spool) }
    }

    /// Removes a body that is no longer needed.
    func drop(_ body: PreparedBody, spool: QueueSpool?) {
        body.upload?.end()
        if case .spooled(let name, _) = body.queued { spool?.remove(name) }
    }

    /// Stops copying the body of a task that is over.
    func stopCopying(of number: UInt64) { copies.removeValue(forKey: number)?.cancel() }

    /// Stops reading the sources of all bodies.
    func endAll() {
        copies.values.forEach { $0.cancel() }
        copies = [:]
        kept.values.forEach { $0.upload?.end() }
        kept = [:]
    }

    // MARK: - Work on the file thread

    private static func read(_ body: MultipartBody) -> Result<[UInt8], RequestError> {
        var bytes = [UInt8](repeating: 0, count: Int(body.contentLength))
        var reader = BodyReader(body)
        do {
            let count = try bytes.withUnsafeMutableBytes { try reader.read(into: $0) }
            return .success(Array(bytes.prefix(count)))
        } catch {
            return .failure(RequestError(ofBody: error))
        }
    }

    private static func write(_ body: MultipartBody, to path: String) -> RequestError? {
        do {
            try body.write(toFile: path)
            return nil
        } catch {
            return RequestError(ofBody: error)
        }
    }
}

extension StreamedBody {
    /// A form that is read while it is sent.
    convenience init(_ body: MultipartBody) {
        self.init(count: UInt64(clamping: body.contentLength)) {
            let reader = FormReader(body)
            return { try reader.read(into: $0) }
        }
    }
}

/// The reader of a form, for a closure. Used by the thread for files only.
private final class FormReader {
    private var reader: BodyReader

    init(_ body: MultipartBody) { reader = BodyReader(body) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try reader.read(into: buffer) }
}
