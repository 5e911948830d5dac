internal import Glibc
internal import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// Downloads to places that their clients choose. The bytes are written next to that place, under a name of their own
/// and with the record by which the download can resume, and renamed when all are there: so the place has the whole
/// file or none. Confined to the loop; a thread waits for the disk.
final class QueueDownloads {
    private struct Download {
        let path: String
        /// Where it is until it is whole.
        let part: String
        var keeper: Keeper?
    }

    /// Who has use for what is there after the end of the request.
    enum Keeper {
        /// Whoever learns that the request failed: nobody, if it is cancelled.
        case failure
        /// A client that knows where it is, to resume it.
        case client
    }

    private let thread = SerialThread.files
    private let replies: LoopReplies
    private var downloads: [RequestID: Download] = [:]

    init(on loop: EventLoop) { replies = LoopReplies(loop: loop) }

    /// Where a download is until it is whole: the same for each attempt.
    static func part(of path: String, _ id: RequestID) -> String { "\(path).part-\(id)" }

    /// Where it is kept how far it is.
    static func record(of part: String) -> String { part + recordSuffix }

    static let recordSuffix = ".record"

    func contains(_ id: RequestID) -> Bool { downloads[id] != nil }

    /// What an earlier attempt left that can be resumed.
    ///
    /// - Parameter mayBeOlder: Also one of an earlier process: where numbers are never given twice.
    func leftover(of id: RequestID, to path: String, mayBeOlder: Bool) -> String? {
        part(of: id) ?? (mayBeOlder ? Self.part(of: path, id) : nil)
    }

    /// Where the download of this request is until it is whole; `nil` before its first attempt.
    func part(of id: RequestID) -> String? { downloads[id]?.part }

    /// An attempt begins, or has another place by its answer.
    func begin(_ id: RequestID, to path: String, by sink: FileSink) {
        if let old = downloads[id], old.part != sink.path, old.keeper != .client { remove(old.part) }
        downloads[id] = Download(path: path, part: sink.path)
    }

    /// Counts what an earlier process left of a download as this request's: as after a failed attempt.
    func adopt(_ id: RequestID, to path: String) {
        if downloads[id] == nil {
            downloads[id] = Download(path: path, part: Self.part(of: path, id), keeper: .failure)
        }
    }

    /// Keeps it after the end of its request, since it may be resumed.
    func keep(_ id: RequestID, for keeper: Keeper) { downloads[id]?.keeper = keeper }

    /// Puts a whole file in its place, safe on the disk.
    ///
    /// - Parameter reply: The place; and 0, or `errno`.
    func deliver(_ id: RequestID, reply: @escaping (String, CInt) -> Void) {
        guard let download = downloads[id] else { return reply("", ENOENT) }
        let answer = replies.expect { (number: CInt) in reply(download.path, number) }
        thread.run { [part = download.part, path = download.path] in answer(Self.deliver(part, to: path)) }
    }

    /// The request is over.
    func forget(_ id: RequestID, isCancelled: Bool) {
        guard !downloads.isEmpty, let download = downloads.removeValue(forKey: id) else { return }
        switch download.keeper {
        case .client: break
        case .failure: if isCancelled { remove(download.part) }
        case nil: remove(download.part)
        }
    }

    private func remove(_ part: String) {
        thread.run {
            unlink(Self.record(of: part))
            unlink(part)
        }
    }

    // MARK: - On the thread for files

    private static func deliver(_ part: String, to path: String) -> CInt {
        let number = DiskSync.wait(for: part)
        guard number == 0 else { return number }
        unlink(record(of: part))
        guard rename(part, path) == 0 else { return errno }
        return DiskSync.wait(forNameOf: path)
    }
}
