internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueueDriver

/// Bodies that clients bring in, in pieces, before the request that they are for. Confined to the loop.
final class QueueUploads {
    private struct Upload {
        let owner: UInt32
        var bytes: Int64 = 0
        var isBusy = false
        var expiry: TimerQueue.ID?
    }

    private let loop: EventLoop
    private var uploads: [String: Upload] = [:]
    /// At a time, of one user.
    private static let limit = 16

    init(loop: EventLoop) { self.loop = loop }

    /// Takes a piece.
    ///
    /// - Parameter longest: A body may not be longer.
    func take(
        _ piece: QueueUpload.Piece, of owner: UInt32, upTo longest: Int64, into spool: QueueSpool,
        reply: @escaping (Result<QueueUpload, QueueServiceError>) -> Void
    ) {
        let name = piece.name ?? "body-" + UniqueKey.make()
        if piece.name == nil {
            guard uploads.values.count(where: { $0.owner == owner }) < Self.limit else {
                return reply(.failure(.refused(reason: "user-limit")))
            }
            uploads[name] = Upload(owner: owner)
        }
        guard let upload = uploads[name], upload.owner == owner else { return reply(.failure(Self.unknown)) }
        guard !upload.isBusy else {
            return reply(.failure(.invalid(field: "upload", reason: "a piece is sent when the one before was taken")))
        }
        guard upload.bytes + Int64(piece.bytes.count) <= longest else {
            drop(name, from: spool)
            return reply(
                .failure(.invalid(field: "body", reason: "a body of more than \(longest) bytes is not taken")))
        }
        uploads[name]?.isBusy = true
        stopExpiry(of: name)
        spool.append(piece.bytes, to: name) { [weak self] result in
            guard let self else { return }
            uploads[name]?.isBusy = false
            switch result {
            case .success(let bytes):
                uploads[name]?.bytes = bytes
                startExpiry(of: name, in: spool)
                reply(.success(QueueUpload(name: name, bytes: bytes)))
            case .failure:
                drop(name, from: spool)
                reply(.failure(.refused(reason: "storage")))
            }
        }
    }

    /// Hands a body over to a request: from now on its file belongs to that.
    func claim(_ name: String, for owner: UInt32) throws(QueueServiceError) -> Int64 {
        guard let upload = uploads[name], upload.owner == owner, !upload.isBusy else { throw Self.unknown }
        stopExpiry(of: name)
        uploads[name] = nil
        return upload.bytes
    }

    private func startExpiry(of name: String, in spool: QueueSpool) {
        uploads[name]?.expiry = loop.schedule(at: SystemClock.boot + QueueUpload.lifetime) { [weak self] in
            self?.drop(name, from: spool)
        }
    }

    private func stopExpiry(of name: String) {
        if let expiry = uploads[name]?.expiry { loop.cancel(expiry) }
        uploads[name]?.expiry = nil
    }

    private func drop(_ name: String, from spool: QueueSpool) {
        stopExpiry(of: name)
        uploads[name] = nil
        spool.remove(name)
    }

    private static let unknown = QueueServiceError.invalid(
        field: "upload", reason: "there is no such body: it may have been waiting for too long, or used")
}
