internal import Glibc
internal import ReachLoop
internal import ReachQueueRuntime
internal import ReachSerialization
internal import ReachTransfer

/// A file to which a ``BodyStream`` is copied before its request is queued.
final class SpooledBody: Sendable {
    private let file: FileDescriptor
    private let thread = SerialThread.files

    /// Creates a file with a name, for a session with a directory.
    init(at path: String) throws(SystemError) {
        file = FileDescriptor(
            owning: try SystemError.check("open \(path)") {
                Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
    }

    /// Creates a file that loses its name at once, so that it is gone when the last of its readers is.
    convenience init() throws(SystemError) {
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        let path = (directory.isEmpty ? "/tmp" : directory) + "/reach-body-" + UniqueKey.make()
        try self.init(at: path)
        unlink(path)
    }

    /// Copies the stream.
    ///
    /// - Parameter limit: The most bytes.
    /// - Returns: The bytes copied.
    func copy(_ stream: BodyStream, limit: Int64) async throws -> Int64 {
        let copied = Count()
        try await stream.produceChecked { chunk in
            try await copied.add(Int64(chunk.count), limit: limit)
            try await self.write(chunk)
            return !Task.isCancelled
        }
        try Task.checkCancellation()
        return await copied.value
    }

    /// The bytes of the file, as a body.
    func body(count: Int64) -> TransferBody {
        .stream(
            StreamedBody(count: UInt64(clamping: count)) {
                let reader = PositionedReader(self)
                return { try reader.read(into: $0) }
            })
    }

    private func write(_ bytes: [UInt8]) async throws {
        let result: Result<Void, SystemError> = await withCheckedContinuation { continuation in
            thread.run {
                continuation.resume(
                    returning: Result { () throws(SystemError) in
                        try FileDescriptor.write(bytes, to: self.file.rawValue)
                    })
            }
        }
        try result.get()
    }

    fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(SystemError) -> Int {
        while true {
            let count = pread(file.rawValue, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return count }
            if errno != EINTR { throw SystemError(call: "pread") }
        }
    }

    private actor Count {
        private(set) var value: Int64 = 0

        func add(_ count: Int64, limit: Int64) throws(RequestError) {
            value += count
            guard value > limit else { return }
            throw RequestError(.request, "bad-body", "the body has more bytes than the session holds (\(limit))")
        }
    }
}

/// Reads a file from its beginning. Used by the thread for files only.
private final class PositionedReader {
    private let file: SpooledBody
    private var offset = 0

    init(_ file: SpooledBody) { self.file = file }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        let count = try file.read(into: buffer, at: offset)
        offset += count
        return count
    }
}
