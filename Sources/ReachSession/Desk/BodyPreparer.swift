internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// A body in the form in which the queue takes it.
struct PreparedBody: Sendable {
    var queued: RequestBody
    /// A file of ours, to be removed when the request is over; `nil` where the queue does that.
    var temporaryFile: String?
}

/// Brings bodies into the form in which the queue takes them. Confined to the loop; files are written on a thread of their
/// own.
final class BodyPreparer {
    /// A body of parts up to this is held, a longer one becomes a file.
    private static let heldBytes: Int64 = 1 << 20

    private let thread = FileThread()
    private let replies: LoopReplies
    private var bodies: [RequestID: PreparedBody] = [:]
    /// Where files are that no queue keeps; made when it is needed.
    private var directory: String?
    private var lastNumber = 0

    init(_ loop: EventLoop) { replies = LoopReplies(loop: loop) }

    deinit {
        // After what the thread still has to do with them.
        thread.run { [directory, files = bodies.values.compactMap(\.temporaryFile)] in
            for file in files { unlink(file) }
            if let directory { rmdir(directory) }
        }
    }

    /// - Parameters:
    ///   - spool: Where the queue keeps long bodies; `nil` where it is in memory.
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

    /// Its row must not name bytes that a loss of power would take.
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

    // MARK: - What becomes of it

    func keep(_ body: PreparedBody, for id: RequestID) {
        switch body.queued {
        case .spooled: bodies[id] = body
        default: if body.temporaryFile != nil { bodies[id] = body }
        }
    }

    /// The request is over.
    ///
    /// - Parameter spool: The queue's, where it is not sent again; its files would go later by themselves.
    func forget(_ id: RequestID, spool: QueueSpool?) {
        if let body = bodies.removeValue(forKey: id) { drop(body, spool: spool) }
    }

    /// It is not needed any more.
    func drop(_ body: PreparedBody, spool: QueueSpool?) {
        if case .spooled(let name, _) = body.queued { spool?.remove(name) }
        if let file = body.temporaryFile { thread.run { unlink(file) } }
    }

    // MARK: - On the thread for files

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
    /// What reading a body threw: a stream may throw anything.
    fileprivate init(ofBody error: any Error) {
        if let error = error as? BodyFileError {
            self.init(error)
        } else {
            self.init(.local, "unreadable-body", "\(error)")
        }
    }
}
