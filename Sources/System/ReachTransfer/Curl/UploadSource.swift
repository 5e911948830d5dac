/// The body of a request, read piece by piece.
protocol UploadSource: AnyObject {
    /// Copies the next piece into a buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPiece
    /// Starts again at the first byte; `false` if that is impossible.
    func rewind() -> Bool
    /// The length of the body in bytes; `nil` if only its end shows it.
    var length: UInt64? { get }
}

enum UploadPiece {
    /// The number of bytes read; 0 at the end.
    case bytes(Int)
    /// There are no bytes yet; the source reports when there are.
    case wait
    case failed(TransferFailure)
}

/// A body in memory.
final class BytesUpload: UploadSource {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var length: UInt64? { UInt64(bytes.count) }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPiece {
        let piece = bytes[offset...].prefix(buffer.count)
        buffer.copyBytes(from: piece)
        offset += piece.count
        return .bytes(piece.count)
    }

    func rewind() -> Bool {
        offset = 0
        return true
    }
}
