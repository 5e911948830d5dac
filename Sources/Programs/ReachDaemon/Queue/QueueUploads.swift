internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime

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

    /// Where uploads go, and what they count for.
    struct Place {
        let spool: QueueSpool
        /// Counts them for their owners.
        weak var driver: QueueDriver?
        /// Whether the limits of one user apply; those of the queue apply to everyone.
        let isLimited: Bool
    }

    /// Appends a piece, if it fits into what its owner and the queue may have.
    func receive(
        _ piece: QueueUpload.Piece, of owner: UInt32, into place: Place,
        reply: @escaping (Result<QueueUpload, QueueServiceError>) -> Void
    ) {
        let name = piece.name ?? "body-" + UniqueKey.make()
        if piece.name == nil {
            guard uploads.values.count(where: { $0.owner == owner }) < Self.limit else {
                let reason = "\(Self.limit) uploads wait for their requests; use or finish one first"
                return reply(.failure(.invalid(field: "upload", reason: reason)))
            }
            uploads[name] = Upload(owner: owner)
        }
        guard let upload = uploads[name], upload.owner == owner else { return reply(.failure(Self.unknown)) }
        guard !upload.isBusy else {
            return reply(.failure(.invalid(field: "upload", reason: "a piece is sent when the one before was taken")))
        }
        let count = piece.count
        if let refusal = Self.refusal(of: count, more: upload.bytes, of: owner, in: place) {
            drop(name, from: place)
            return reply(.failure(refusal))
        }
        uploads[name]?.isBusy = true
        uploads[name]?.bytes += count
        place.driver?.reserve(count, for: owner)
        stopExpiry(of: name)
        let answer: (Result<Int64, SystemError>) -> Void = { [weak self] in self?.end($0, of: name, in: place, reply) }
        switch piece.content {
        case .bytes(let bytes): place.spool.append(bytes, to: name, reply: answer)
        case .memory(let memory): place.spool.append(memory, to: name, reply: answer)
        }
    }

    /// Ends the writing of a piece.
    private func end(
        _ result: Result<Int64, SystemError>, of name: String, in place: Place,
        _ reply: (Result<QueueUpload, QueueServiceError>) -> Void
    ) {
        uploads[name]?.isBusy = false
        switch result {
        case .success(let bytes):
            startExpiry(of: name, in: place)
            reply(.success(QueueUpload(name: name, bytes: bytes)))
        case .failure:
            drop(name, from: place)
            reply(.failure(.refused(reason: "storage")))
        }
    }

    /// - Parameter before: Bytes that the upload already has.
    private static func refusal(
        of count: Int64, more before: Int64, of owner: UInt32, in place: Place
    ) -> QueueServiceError? {
        guard let driver = place.driver else { return .notAvailable(reason: "the queue is being closed") }
        let longest = driver.scheduler.longest(isLimited: place.isLimited)
        if before + count > longest.bytes, longest.setter == .bytes || longest.setter == .ownerBytes {
            // It never fits, whatever else goes. A limit by the free disk changes with what others write: try again
            // later.
            let excess = QueueExcess(ByteExcess(limit: longest, wanted: before + count))
            let (wanted, allowed) = excess.amounts
            return .invalid(
                field: "body",
                reason: "upload too large: \(wanted) or more; \(excess.whose) is \(allowed) (\(excess.limit))")
        }
        return driver.scheduler.excess(of: count, for: owner, isLimited: place.isLimited).map {
            .refused(reason: $0.refusal.rawValue, excess: QueueExcess($0))
        }
    }

    /// Hands a body over to a request: from now on its file belongs to that, and the caller counts its bytes.
    func claim(_ name: String, for owner: UInt32) throws(QueueServiceError) -> Int64 {
        guard let upload = uploads[name], upload.owner == owner, !upload.isBusy else { throw Self.unknown }
        stopExpiry(of: name)
        uploads[name] = nil
        return upload.bytes
    }

    private func startExpiry(of name: String, in place: Place) {
        uploads[name]?.expiry = loop.schedule(at: SystemClock.boot + QueueUpload.lifetime) { [weak self] in
            self?.drop(name, from: place)
        }
    }

    private func stopExpiry(of name: String) {
        if let expiry = uploads[name]?.expiry { loop.cancel(expiry) }
        uploads[name]?.expiry = nil
    }

    private func drop(_ name: String, from place: Place) {
        stopExpiry(of: name)
        if let upload = uploads.removeValue(forKey: name) { place.driver?.reserve(-upload.bytes, for: upload.owner) }
        place.spool.remove(name)
    }

    private static let unknown = QueueServiceError.invalid(
        field: "upload", reason: "there is no such body: it may have been waiting for too long, or used")
}
