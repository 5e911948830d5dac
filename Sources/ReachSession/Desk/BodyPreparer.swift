internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// A body in the form that the queue accepts.
struct PreparedBody: Sendable {
    var queued: RequestBody
    /// A temporary file to remove when the request is over; `nil` where the queue removes it.
    var temporaryFile: String?
}

/// Converts bodies into the form that the queue accepts. Confined to the loop; a separate thread writes the files.
final class BodyPreparer {
    /// The largest multipart body kept in memory; a longer one is written to a file.
    private static let heldBytes: Int64 = 1 << 20

    private let thread = FileThread()
    private let replies: LoopReplies
    private var bodies: [RequestID: PreparedBody] = [:]
    /// The directory of temporary files outside any spool; created when first needed.
    private var directory: String?
    private var lastNumber = 0

    init(_ loop: EventLoop) { replies = LoopReplies(loop: loop) }

    deinit {
        // Runs after the thread's pending work on these files.
        thread.run { [directory, files = bodies.values.compactMap(\.temporaryFile)] in
            for file in files { unlink(file) }
            if let directory { rmdir(directory) }
        }
    }

    /// Prepares a task's body.
    ///
    /// - Parameters:
    ///   - spool: The queue's store for long bodies; `nil` where the queue is in memory.
    ///   - reply: Called once, on the loop.
    func prepare(
        _ plan: TaskPlan, spool: QueueSpool?, reply: @escaping (Result<PreparedBody, RequestError>) -> Void
    ) {
        switch plan.request.body {
        case .none: reply(.success(PreparedBody(queued: .none)))
        case .bytes(let bytes):
            guard let spool, bytes.count > Self.heldBytes else {
                return reply(.success(PreparedBody(queued: .inline(bytes))))
            }
            let name = "body-" + UniqueKey.make()
            spool.append(bytes, to: name) { result in
                switch result {
                case .success(let count): Self.seal(name, count, in: spool, reply)
                case .failure(let error):
                    spool.remove(name)
                    reply(.failure(RequestError(.notTaken, "storage", error.description)))
                }
            }
        case .file(let path, let length): reply(.success(PreparedBody(queued: .file(path: path, bytes: length))))
        case .multipart(let body): prepare(body, spool, reply)
        }
    }

    private func prepare(
        _ body: MultipartBody, _ spool: QueueSpool?, _ reply: @escaping (Result<PreparedBody, RequestError>) -> Void
    ) {
        if body.contentLength <= Self.heldBytes {
            let answer = replies.expect { (result: Result<[UInt8], RequestError>) in
                reply(result.map { PreparedBody(queued: .inline($0)) })
            }
            return thread.run { answer(Self.read(body)) }
        }
        let name = "body-" + UniqueKey.make()
        guard let path = spool?.path(name) ?? temporaryPath() else {
            return reply(
                .failure(RequestError(.local, "no-file", "there is no place for the body: \(SystemError.text(errno))")))
        }
        let answer = replies.expect { (failure: RequestError?) in
            if let failure {
                unlink(path)
                return reply(.failure(failure))
            }
            guard let spool else {
                let queued = RequestBody.file(path: path, bytes: body.contentLength)
                return reply(.success(PreparedBody(queued: queued, temporaryFile: path)))
            }
            Self.seal(name, body.contentLength, in: spool, reply)
        }
        thread.run { answer(Self.write(body, to: path)) }
    }

    /// Syncs a spooled body to disk: the request's row must not refer to bytes that a power failure would lose.
    private static func seal(
        _ name: String, _ count: Int64, in spool: QueueSpool,
        _ reply: @escaping (Result<PreparedBody, RequestError>) -> Void
    ) {
        spool.seal(name) { number in
            guard number == 0 else {
                spool.remove(name)
                return reply(.failure(RequestError(.notTaken, "storage", SystemError.text(number))))
            }
            reply(.success(PreparedBody(queued: .spooled(name: name, bytes: count))))
        }
    }

    private func temporaryPath() -> String? {
        if directory == nil {
            let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
            var template = Array("\(parent)/reach-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { return nil }
            directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        lastNumber += 1
        return directory.map { "\($0)/\(lastNumber)" }
    }

    // MARK: - Keeping and removing

    func keep(_ body: PreparedBody, for id: RequestID) {
        switch body.queued {
        case .spooled: bodies[id] = body
        default: if body.temporaryFile != nil { bodies[id] = body }
        }
    }

    /// Removes the body of a request that is over.
    ///
    /// - Parameter spool: The spool from which the body is removed; `nil` for a request that may be sent again. The
    ///   queue removes unused files later in any case.
    func forget(_ id: RequestID, spool: QueueSpool?) {
        if let body = bodies.removeValue(forKey: id) { drop(body, spool: spool) }
    }

    /// Removes a body that is no longer needed.
    func drop(_ body: PreparedBody, spool: QueueSpool?) {
        if case .spooled(let name, _) = body.queued { spool?.remove(name) }
        if let file = body.temporaryFile { thread.run { unlink(file) } }
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
