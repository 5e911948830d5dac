/// Reads a body from beginning to end. It opens one file at a time and buffers nothing.
///
/// It reads from disk, so use it on a thread that may block.
public struct BodyReader: ~Copyable {
    private let pieces: [BodyPiece]
    private var piece = 0
    private var offset: Int64 = 0
    private var file: BodyFile?
    private var stream: ((UnsafeMutableRawBufferPointer) throws -> Int)?

    /// Creates a reader at the first byte of a request's body. A ``BodyStream`` cannot be read so: the first read
    /// throws.
    public init(_ body: WebRequest.Body) {
        switch body {
        case .none: pieces = []
        case .bytes(let bytes): pieces = [.bytes(bytes)]
        case .file(let path, let length): pieces = [.file(path: path, length: length)]
        case .multipart(let multipart): pieces = multipart.pieces
        case .stream: pieces = [.stream(length: 1) { throw BodyStreamError.asynchronous }]
        }
    }

    /// Creates a reader at the first boundary.
    public init(_ body: MultipartBody) { pieces = body.pieces }

    /// Reads the next bytes into `buffer`.
    ///
    /// - Returns: Bytes read. Fewer than the buffer holds only at the end of the body; 0 after it.
    /// - Throws: ``BodyFileError`` if a file became unreadable or shorter, since the length has already been sent; any
    ///   error of a stream.
    public mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count, piece < pieces.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try readPiece(into: rest)
            filled += count
            offset += Int64(count)
            if offset == pieces[piece].length { nextPiece() }
        }
        return filled
    }

    /// Returns to the first byte: after a redirect or a challenge the body is sent again.
    public mutating func rewind() {
        nextPiece()
        piece = 0
    }

    private mutating func nextPiece() {
        piece += 1
        offset = 0
        file = nil
        stream = nil
    }

    private mutating func readPiece(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let source = pieces[piece]
        let count = Int(min(Int64(buffer.count), source.length - offset))
        if count == 0 { return 0 }
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        switch source {
        case .bytes(let bytes):
            room.copyBytes(from: bytes[Int(offset)..<Int(offset) + count])
            return count
        case .file(let path, let length):
            if file == nil { file = try BodyFile(opening: path) }
            let read = try file?.read(into: room) ?? 0
            guard read > 0 else { throw BodyFileError(.shrank(length: length, found: offset), path: path) }
            return read
        case .stream(let length, let open):
            if stream == nil { stream = try open() }
            let read = try stream?(room) ?? 0
            guard 1...count ~= read else { throw BodyFileError(.shrank(length: length, found: offset), path: "") }
            return read
        }
    }
}

extension MultipartBody {
    /// Writes the whole body to a file, for a sender that accepts only files. Blocks on disk I/O.
    ///
    /// - Parameter path: The file. An existing one is overwritten; a new one is readable only by its owner.
    public func write(toFile path: String) throws {
        var reader = BodyReader(self)
        let file = try BodyFile(creating: path)
        try withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
            while true {
                let count = try reader.read(into: buffer)
                if count == 0 { return }
                try file.write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }
}
