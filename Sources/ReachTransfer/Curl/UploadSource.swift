/// Where the body of a request comes from, piece by piece.
protocol UploadSource: AnyObject {
    /// What the next piece is.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadPiece
    /// Begins again; `false` where that cannot be.
    func rewind() -> Bool
    /// Of the whole body, in bytes.
    var count: UInt64 { get }
}

enum UploadPiece {
    /// So many bytes; 0 at the end.
    case bytes(Int)
    /// There will be more later: `resume` is then called.
    case wait
    case failed(TransferFailure)
}

/// A body in memory.
final class BytesUpload: UploadSource {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: UInt64 { UInt64(bytes.count) }

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
