internal import Glibc
internal import ReachLoop

/// An open file that only a ``SerialThread`` uses: it runs one piece of work at a time, so this needs no lock.
final class FileHandOff: UploadFile, @unchecked Sendable {
    private var descriptor: CInt = -1
    private var recorder: ResumeRecorder?
    /// The length of the file that is written.
    private var length: UInt64 = 0
    private var reservation: DiskReservation?

    deinit { close() }

    /// Opens a file for writing, and truncates it.
    ///
    /// - Parameters:
    ///   - keep: The length to truncate it to, in bytes.
    ///   - recorder: Keeps the download's record; `nil` for none.
    ///   - reservation: Takes the file's room on the disk; `nil` takes none beforehand.
    /// - Returns: `errno`, or 0.
    func create(
        _ path: String, keep: UInt64, permissions: mode_t = 0o666, recorder: ResumeRecorder? = nil,
        reservation: DiskReservation? = nil
    ) -> CInt {
        if keep == 0, let number = recorder?.removeOld(), number != 0 { return number }
        descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { return errno }
        guard let size = size, size >= keep else { return size == nil ? errno : EINVAL }
        guard ftruncate(descriptor, Int(keep)) == 0, lseek(descriptor, Int(keep), SEEK_SET) >= 0 else { return errno }
        self.recorder = recorder
        length = keep
        self.reservation = reservation
        // All of it, before it is received.
        if let expected = reservation?.expected, let number = cover(upTo: expected), number != 0 { return number }
        return note()
    }

    private func cover(upTo end: UInt64) -> CInt? {
        let number = reservation?.cover(upTo: end, of: descriptor, length: length)
        if let number, number != 0 { close() }
        return number
    }

    /// Appends the pieces. After a failure no more are written: they would follow a gap.
    func append(_ pieces: [[UInt8]]) -> CInt {
        let end = length + UInt64(pieces.reduce(0) { $0 + $1.count })
        if let number = cover(upTo: end), number != 0 { return number }
        for piece in pieces {
            if let number = write(piece) { return number }
        }
        length = end
        return note()
    }

    /// - Returns: `errno` after a failure, which closes the file.
    private func write(_ bytes: [UInt8]) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno != EINTR {
                defer { close() }
                return errno
            }
            rest = rest.dropFirst(max(0, count))
        }
        return nil
    }

    private func note() -> CInt { recorder?.note(length, of: descriptor, at: SystemClock.boot) ?? 0 }

    /// Opens a regular file for reading.
    func open(reading path: String) -> Result<UInt64, UploadError> {
        // O_NONBLOCK keeps this from waiting for a FIFO's writer; for a regular file it makes no difference.
        descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(UploadError(errno)) }
        guard let size else { return .failure(UploadError(EINVAL)) }
        return .success(size)
    }

    func read(at offset: UInt64, _ count: Int) -> Result<[UInt8], UploadError> {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = pread(descriptor, &bytes, count, Int(offset))
        guard result >= 0 else { return .failure(UploadError(errno)) }
        bytes.removeLast(count - result)
        return .success(bytes)
    }

    func close() {
        if descriptor >= 0 {
            reservation?.end(of: descriptor, length: length)
            Glibc.close(descriptor)
        }
        reservation = nil
        descriptor = -1
    }

    /// The size of a regular file; `nil` for anything else.
    private var size: UInt64? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return UInt64(status.st_size)
    }
}
