internal import Glibc
internal import ReachLoop

/// What a body is read from. Only a ``SerialThread`` uses it.
protocol UploadFile: AnyObject, Sendable {
    /// Opens it, and returns its length in bytes.
    func open(reading path: String) -> Result<UInt64, UploadError>
    /// Reads bytes: from the beginning, or behind those of the last call.
    func read(at offset: UInt64, _ count: Int) -> Result<[UInt8], UploadError>
    func close()
}

/// Why a body cannot be read: a sentence, and `errno` where there is one.
struct UploadError: Error {
    let text: String
    let number: CInt

    init(_ number: CInt) {
        text = SystemError.text(number)
        self.number = number
    }

    init(_ error: any Error) {
        text = "\(error)"
        number = (error as? SystemError)?.number ?? 0
    }
}

/// The stream of a body. Only a ``SerialThread`` uses it: it runs one piece of work at a time, so this needs no lock.
final class StreamHandOff: UploadFile, @unchecked Sendable {
    private let body: StreamedBody
    private var reader: StreamedBody.Reader?

    init(_ body: StreamedBody) { self.body = body }

    func open(reading path: String) -> Result<UInt64, UploadError> { .success(body.count) }

    func read(at offset: UInt64, _ count: Int) -> Result<[UInt8], UploadError> {
        do {
            if offset == 0 { reader = try body.open() }
            return .success(
                try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                    let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<count]))
                    filled = min(max(try reader?(room) ?? 0, 0), count)
                })
        } catch {
            return .failure(UploadError(error))
        }
    }

    func close() { reader = nil }
}

/// A body in a file or a stream, read ahead of its sending. Confined to the loop; the file belongs to a
/// ``SerialThread``.
final class FileUpload: UploadSource {
    private static let pieceBytes = 1 << 18

    private let path: String
    private let thread: SerialThread
    private let file: any UploadFile
    private let replies: LoopReplies
    private(set) var count: UInt64 = 0
    var length: UInt64? { count }
    private var ready: ArraySlice<UInt8> = []
    /// The offset in the file up to which it was read.
    private var readEnd: UInt64 = 0
    private var isReading = false
    /// Bytes were returned: the first are no longer here.
    private var isBegun = false
    /// Incremented when it starts again: replies to earlier reads are dropped.
    private var round = 0
    private var failure: TransferFailure?
    /// Called when there are bytes to send, or when reading failed.
    var onReady: () -> Void = {}

    /// - Parameter path: The file's path, or what the stream is called in errors.
    init(_ file: any UploadFile, path: String, thread: SerialThread, replies: LoopReplies) {
        self.file = file
        self.path = path
        self.thread = thread
        self.replies = replies
    }

    deinit { thread.run { [file] in file.close() } }

    /// Opens the file and reads its size; the body can be sent when this has completed.
    func open(_ completion: @escaping (TransferFailure?) -> Void) {
        let reply = replies.expect { [weak self] (result: Result<UInt64, UploadError>) in
            guard let self else { return }
            switch result {
            case .success(let size):
                count = size
                readAhead()
            case .failure(let error): fail(error)
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
        isBegun = true
        readAhead()
        return .bytes(piece.count)
    }

    func rewind() -> Bool {
        guard isBegun else { return true }
        isBegun = false
        round += 1
        ready = []
        readEnd = 0
        isReading = false
        readAhead()
        return true
    }

    private func readAhead() {
        guard failure == nil, !isReading, readEnd < count, ready.count < Self.pieceBytes else { return }
        isReading = true
        let (offset, size, round) = (readEnd, Int(min(UInt64(Self.pieceBytes), count - readEnd)), round)
        let reply = replies.expect { [weak self] (result: Result<[UInt8], UploadError>) in
            self?.arrived(result, in: round)
        }
        thread.run { [file] in reply(file.read(at: offset, size)) }
    }

    private func arrived(_ result: Result<[UInt8], UploadError>, in round: Int) {
        guard round == self.round else { return }
        isReading = false
        switch result {
        case .success(let bytes) where bytes.isEmpty:
            failure = TransferFailure(shorter: path)
        case .success(let bytes):
            readEnd += UInt64(bytes.count)
            ready += bytes
        case .failure(let error): fail(error)
        }
        readAhead()
        onReady()
    }

    private func fail(_ error: UploadError) {
        failure = TransferFailure(.fileFailed, "\(path): \(error.text)", systemError: error.number)
    }
}

extension TransferFailure {
    fileprivate init(shorter path: String) {
        self.init(.fileFailed, "\(path) became shorter while it was sent", systemError: ENODATA)
    }

    /// Whether the file became shorter while it was sent: another attempt sends what is there.
    package var isOfShorterFile: Bool { reason == .fileFailed && systemError == ENODATA }
}
