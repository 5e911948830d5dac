internal import Glibc
internal import ReachLoop

/// Writes a download to its file without waiting for the disk. Confined to the loop; the file is ``FileThread``'s.
final class FileWriter {
    /// More than this is not held in memory: the connection is held back instead.
    private static let backlogLimit = 1 << 20

    private let path: String
    private let thread: FileThread
    private let file = FileHandOff()
    private let replies: LoopReplies
    private var pending: [UInt8] = []
    private var isWriting = false
    private var whenFinished: ((TransferFailure?) -> Void)?
    private(set) var failure: TransferFailure?
    /// Told when there is room again, and when there will be none because the disk failed.
    var onRoom: () -> Void = {}

    /// - Parameters:
    ///   - keep: So many bytes of what is there stay, and the rest comes after them.
    ///   - recorder: Keeps the record of how far it is; `nil` where there is none.
    init(
        path: String, keep: UInt64, permissions: UInt32 = 0o666, recorder: ResumeRecorder? = nil, thread: FileThread,
        replies: LoopReplies
    ) {
        self.path = path
        self.thread = thread
        self.replies = replies
        perform { $0.create(path, keep: keep, permissions: permissions, recorder: recorder) }
    }

    deinit { thread.run { [file] in file.close() } }

    var hasRoom: Bool { pending.count < Self.backlogLimit || failure != nil }

    func append(_ bytes: [UInt8]) {
        if failure == nil { pending += bytes }
        proceed()
    }

    /// Calls `completion` once, later, when all is written or could not be.
    func finish(_ completion: @escaping (TransferFailure?) -> Void) {
        whenFinished = completion
        proceed()
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
            pending = []
        }
        proceed()
        onRoom()
    }

    private func proceed() {
        guard !isWriting else { return }
        if !pending.isEmpty {
            let bytes = pending
            pending = []
            perform { $0.append(bytes) }
        } else if let completion = whenFinished {
            whenFinished = nil
            // Later also where nothing is left to wait for.
            replies.later { [failure] in completion(failure) }
        }
    }
}
