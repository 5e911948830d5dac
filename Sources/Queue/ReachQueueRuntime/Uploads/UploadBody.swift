internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTransfer

/// The body of a resumable upload, of which any part can be sent. A file stays open as long as the value lives, so all
/// parts of an attempt are of the file that was compared with the one before.
struct UploadBody: Sendable {
    private enum Source: Sendable {
        case bytes([UInt8])
        case file(OpenFile)
        case stream(StreamedBody)
    }

    private final class OpenFile: Sendable {
        let descriptor: FileDescriptor

        init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
    }

    private let source: Source
    let identity: BodyIdentity

    /// Blocks on the disk.
    ///
    /// - Throws: Where it has no bytes that can be read twice.
    init(_ body: TransferBody) throws(TransferFailure) {
        switch body {
        case .none: (source, identity) = (.bytes([]), BodyIdentity(bytes: 0))
        case .bytes(let bytes): (source, identity) = (.bytes(bytes), BodyIdentity(bytes: UInt64(bytes.count)))
        case .stream(let stream): (source, identity) = (.stream(stream), BodyIdentity(bytes: stream.count))
        case .arriving:
            throw TransferFailure(.fileFailed, "a body that arrives while it is sent cannot be resumed")
        case .file(let path):
            do throws(SystemError) {
                let file = try Self.open(path)
                (source, identity) = (.file(file.file), file.identity)
            } catch {
                throw TransferFailure(
                    .fileFailed, "\(path): \(SystemError.text(error.number))", systemError: error.number)
            }
        }
    }

    private static func open(_ path: String) throws(SystemError) -> (file: OpenFile, identity: BodyIdentity) {
        // O_NONBLOCK keeps this from waiting for a FIFO's writer.
        let file = OpenFile(
            FileDescriptor(
                owning: try SystemError.check("open \(path)") { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }))
        var status = stat()
        guard fstat(file.descriptor.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SystemError(call: "open \(path)", number: EINVAL)
        }
        let version = "\(status.st_ino) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
        return (file, BodyIdentity(bytes: UInt64(clamping: status.st_size), version: version))
    }

    func part(_ range: Range<UInt64>) -> TransferBody {
        switch source {
        case .bytes(let bytes): .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let file): .stream(StreamedBody(count: UInt64(range.count)) { Self.reader(of: file, range) })
        case .stream(let stream):
            .stream(StreamedBody(count: UInt64(range.count)) { try Self.reader(of: stream, range) })
        }
    }

    private static func reader(of file: OpenFile, _ range: Range<UInt64>) -> StreamedBody.Reader {
        var offset = range.lowerBound
        return { buffer in
            let wanted = Int(min(UInt64(buffer.count), range.upperBound - offset))
            let count = pread(file.descriptor.rawValue, buffer.baseAddress, wanted, Int(offset))
            guard count >= 0 else { throw SystemError(call: "read") }
            offset += UInt64(count)
            return count
        }
    }

    /// Reads what the server has, and drops it: a stream cannot be read from the middle.
    private static func reader(of stream: StreamedBody, _ range: Range<UInt64>) throws -> StreamedBody.Reader {
        let reader = try stream.open()
        var left = range.lowerBound
        try withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            while left > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(left, UInt64(buffer.count)))])
                let count = try reader(piece)
                guard count > 0 else { break }
                left -= UInt64(count)
            }
        }
        var rest = UInt64(range.count)
        return { buffer in
            guard left == 0, rest > 0 else { return 0 }
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(min(rest, UInt64(buffer.count)))])
            let count = try reader(piece)
            rest -= UInt64(max(0, count))
            return count
        }
    }
}
