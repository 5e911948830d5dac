internal import Glibc
internal import ReachLoop

/// A body in a file, read ahead of its sending. Confined to the loop; the file belongs to ``FileThread``.
final class FileUpload: UploadSource {
    private static let pieceBytes = 1 << 18

    private let path: String
    private let thread: FileThread
    private let file = FileHandOff()
    private let replies: LoopReplies
    private(set) var count: UInt64 = 0
    private var ready: ArraySlice<UInt8> = []
    /// The offset in the file up to which it was read.
    private var readEnd: UInt64 = 0
    private var isReading = false
    /// Incremented when it starts again: replies to earlier reads are dropped.
    private var round = 0
    private var failure: TransferFailure?
    /// Called when there are bytes to send, or when reading failed.
    var onReady: () -> Void = {}

    init(path: String, thread: FileThread, replies: LoopReplies) {
        self.path = path
        self.thread = thread
        self.replies = replies
    }

    deinit { thread.run { [file] in file.close() } }

    /// Opens the file and reads its size; the body can be sent when this has completed.
    func open(_ completion: @escaping (TransferFailure?) -> Void) {
        let reply = replies.expect { [weak self] (result: Result<UInt64, FileNumber>) in
            guard let self else { return }
            switch result {
            case .success(let size):
                count = size
                readAhead()
            case .failure(let error): fail(error.rawValue)
            }
            completion(failure)
        }
        thread.run { [file, path] in reply(file.open(reading: path)) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPiece {
        if let failure { return .failed(failure) }
        guard !ready.isEmpty else { return readEnd == count && !isReading ? .bytes(0) : .wait }
        let piece = ready.prefix(buffer.count)
        buffer.copyBytes(from: piece)
        ready = ready.dropFirst(piece.count)
        readAhead()
        return .bytes(piece.count)
    }

    func rewind() -> Bool {
        round += 1
        ready = []
        readEnd = 0
        isReading = false
        readAhead()
        return true
    }

    private func readAhead() {
        guard !isReading, readEnd < count, ready.count < Self.pieceBytes else { return }
        isReading = true
        let (offset, size, round) = (readEnd, Int(min(UInt64(Self.pieceBytes), count - readEnd)), round)
        let reply = replies.expect { [weak self] (result: Result<[UInt8], FileNumber>) in
            self?.arrived(result, in: round)
        }
        thread.run { [file] in reply(file.read(at: offset, size)) }
    }

    private func arrived(_ result: Result<[UInt8], FileNumber>, in round: Int) {
        guard round == self.round else { return }
        isReading = false
        switch result {
        case .success(let bytes) where bytes.isEmpty:
            failure = TransferFailure(.fileFailed, "\(path) became shorter while it was sent")
        case .success(let bytes):
            readEnd += UInt64(bytes.count)
            ready += bytes
        case .failure(let error): fail(error.rawValue)
        }
        readAhead()
        onReady()
    }

    private func fail(_ number: CInt) {
        failure = TransferFailure(.fileFailed, "\(path): \(SystemError.text(number))", systemError: number)
    }
}
