internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// Converts bodies into the form that the queue accepts. Confined to the loop; a separate thread writes the files.
final class BodyPreparer {
    /// The largest body kept in the queue's own file; a longer one gets a file in the spool.
    private static let heldBytes: Int64 = 1 << 20
    /// Stands for a body that is read from its task's request while it is sent: a queue in memory keeps no copy.
    static let streamPath = ""

    private let thread = SerialThread.files
    private let replies: LoopReplies
    /// The names of bodies in the spool.
    private var names: [RequestID: String] = [:]

    init(_ loop: EventLoop) { replies = LoopReplies(loop: loop) }

    /// Prepares a task's body.
    ///
    /// - Parameters:
    ///   - spool: The queue's store for long bodies; `nil` where the queue is in memory.
    ///   - reply: Called once, on the loop.
    func prepare(
        _ plan: TaskPlan, spool: QueueSpool?, reply: @escaping (Result<RequestBody, RequestError>) -> Void
    ) {
        switch plan.request.body {
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
            guard let spool else { return reply(.success(.file(path: Self.streamPath, bytes: body.contentLength))) }
            store(body, in: spool, reply)
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

    func keep(_ body: RequestBody, for id: RequestID) {
        if case .spooled(let name, _) = body { names[id] = name }
    }

    /// Removes the body of a request that is over.
    ///
    /// - Parameter spool: The spool from which the body is removed; `nil` for a request that may be sent again. The
    ///   queue removes unused files later in any case.
    func forget(_ id: RequestID, spool: QueueSpool?) {
        if let name = names.removeValue(forKey: id) { spool?.remove(name) }
    }

    /// Removes a body that is no longer needed.
    func drop(_ body: RequestBody, spool: QueueSpool?) {
        if case .spooled(let name, _) = body { spool?.remove(name) }
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

extension RequestError {
    /// The error for what reading a body threw: a stream may throw anything.
    fileprivate init(ofBody error: any Error) {
        if let error = error as? BodyFileError {
            self.init(error)
        } else {
            self.init(.local, "unreadable-body", "\(error)")
        }
    }
}
