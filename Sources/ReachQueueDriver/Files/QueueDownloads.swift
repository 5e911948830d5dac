internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// Downloads that go where their clients want them. What comes is written beside that place, under a name of its own, and
/// renamed when it is whole: who looks finds all of it or nothing. Confined to the loop; the disk is waited for on a
/// thread.
final class QueueDownloads {
    private struct Download {
        let path: String
        /// Where it is until it is whole.
        let part: String
        /// Of what comes, where that is a success.
        var entityTag: String?
        /// Where the next attempt goes on.
        var point: ResumePoint?
        /// Goes up with each attempt.
        var attempt: UInt64
    }

    private let thread = FileThread()
    private let replies: LoopReplies
    private var downloads: [RequestID: Download] = [:]
    private var lastAttempt: UInt64 = 0

    init(on loop: EventLoop) { replies = LoopReplies(loop: loop) }

    func contains(_ id: RequestID) -> Bool { downloads[id] != nil }

    /// Where the next attempt goes on; `nil` for the beginning.
    func point(of id: RequestID) -> ResumePoint? { downloads[id]?.point }

    /// An attempt begins.
    func begin(_ id: RequestID, to path: String, by sink: FileSink) {
        lastAttempt += 1
        downloads[id] = Download(path: path, part: sink.path, point: sink.resume, attempt: lastAttempt)
    }

    /// The head of an answer is here.
    func received(_ head: ResponseHead, of id: RequestID) {
        let isWanted = head.status == 200 || head.status == 206
        downloads[id]?.entityTag = isWanted ? head["etag"] : nil
    }

    /// An attempt has failed.
    func failed(_ id: RequestID, _ point: ResumePoint?) {
        // What it did not touch is still there.
        if let point { downloads[id]?.point = point }
    }

    /// An attempt was broken off: what is written is a beginning of the file, whatever of it still waited to be written, since
    /// the file is cut to this before more is.
    ///
    /// - Parameter reply: Called once, on the loop: where the download can be gone on with.
    func interrupted(_ id: RequestID, reply: @escaping (ResumePoint?) -> Void = { _ in }) {
        guard let download = downloads[id], let tag = download.entityTag, ResumePoint.isStrong(tag) else {
            return reply(downloads[id]?.point)
        }
        downloads[id]?.point = nil
        let answer = replies.expect { [weak self] (size: UInt64?) in
            let point = size.flatMap { $0 > 0 ? ResumePoint(offset: $0, entityTag: tag) : nil }
            if let self, downloads[id]?.attempt == download.attempt { downloads[id]?.point = point }
            reply(point)
        }
        thread.run { [part = download.part] in answer(Self.size(of: part)) }
    }

    /// Puts a whole file in its place, safe on the disk.
    ///
    /// - Parameter reply: The place; and 0, or `errno`.
    func deliver(_ id: RequestID, reply: @escaping (String, CInt) -> Void) {
        guard let download = downloads[id] else { return reply("", ENOENT) }
        let answer = replies.expect { (number: CInt) in reply(download.path, number) }
        thread.run { [part = download.part, path = download.path] in answer(Self.deliver(part, to: path)) }
    }

    /// The request is over.
    ///
    /// - Parameter keepsPart: What can be gone on with stays: whoever wants that knows where.
    func forget(_ id: RequestID, keepsPart: Bool) {
        guard let download = downloads.removeValue(forKey: id), !keepsPart || download.point == nil else { return }
        thread.run { [part = download.part] in unlink(part) }
    }

    // MARK: - On the thread for files

    private static func size(of path: String) -> UInt64? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt64(clamping: status.st_size) : nil
    }

    private static func deliver(_ part: String, to path: String) -> CInt {
        let file = open(part, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        guard fsync(file) == 0, rename(part, path) == 0 else { return errno }
        let slash = path.lastIndex(of: "/")
        let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let directory = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return errno }
        defer { close(directory) }
        return fsync(directory) == 0 ? 0 : errno
    }
}
