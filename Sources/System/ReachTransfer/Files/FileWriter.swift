internal import Glibc
internal import ReachLoop

/// Writes a download to its file without waiting for the disk. Confined to the loop; the file belongs to
/// a ``SerialThread``.
final class FileWriter {
    /// The most bytes in memory; beyond it the connection waits.
    private static let backlogLimit = 1 << 20

    private let path: String
    private let thread: SerialThread
    private let file = FileHandOff()
    private let replies: LoopReplies
    /// As they arrived: one array of all would be copied each time it grows.
    private var pending: [[UInt8]] = []
    private var pendingBytes = 0
    private var isWriting = false
    private var onFinish: ((TransferFailure?) -> Void)?
    private(set) var failure: TransferFailure?
    /// Called when there is room again, and when the disk failed.
    var onRoom: () -> Void = {}

    /// - Parameters:
    ///   - keep: The bytes of the existing file to keep; the download is appended to them.
    ///   - recorder: Keeps the download's record; `nil` for none.
    ///   - reservation: Takes the file's room on the disk; `nil` takes none beforehand.
    init(
        path: String, keep: UInt64, permissions: UInt32 = 0o666, recorder: ResumeRecorder? = nil,
        reservation: DiskReservation? = nil, thread: SerialThread, replies: LoopReplies
    ) {
        self.path = path
        self.thread = thread
        self.replies = replies
        perform {
            $0.create(
                path, keep: keep, permissions: permissions, recorder: recorder, reservation: reservation)
        }
    }

    /// What has arrived is written also where the transfer is cancelled: a later one resumes after it.
    deinit {
        thread.run { [file, pending] in
            if !pending.isEmpty { _ = file.append(pending) }
            file.close()
        }
    }

    var hasRoom: Bool { pendingBytes < Self.backlogLimit || failure != nil }

    func append(_ bytes: [UInt8]) {
        if failure == nil, !bytes.isEmpty {
            pending.append(bytes)
            pendingBytes += bytes.count
        }
        proceed()
    }

    /// Calls `completion` once, later, when everything is written or has failed.
    func finish(_ completion: @escaping (TransferFailure?) -> Void) {
        onFinish = completion
        proceed()
    }

    private func takePending() -> [[UInt8]] {
        defer { (pending, pendingBytes) = ([], 0) }
        return pending
    }

    private func perform(_ work: @escaping @Sendable (FileHandOff) -> CInt) {
        isWriting = true
        let reply = replies.expect { [weak self] (number: CInt) in self?.done(number) }
        thread.run { [file] in reply(work(file)) }
    }

    private func done(_ number: CInt) {
        isWriting = false
        if number != 0, failure == nil {
            failure = TransferFailure(.fileFailed, "\(path): \(SystemError.text(number))", systemError: number)
            _ = takePending()
        }
        proceed()
        onRoom()
    }

    private func proceed() {
        guard !isWriting else { return }
        if !pending.isEmpty {
            let pieces = takePending()
            perform { $0.append(pieces) }
        } else if let completion = onFinish {
            onFinish = nil
            // Later, even where nothing is left to write.
            replies.later { [failure] in completion(failure) }
        }
    }
}
