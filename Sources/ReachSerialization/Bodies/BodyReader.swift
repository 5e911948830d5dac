/// Reads a body from its beginning to its end. One file is open at a time, and nothing is held but a place.
///
/// It reads from disk, so it belongs on a thread that may wait.
public struct BodyReader: ~Copyable {
    private let pieces: [BodyPiece]
    private var piece = 0
    private var offset: Int64 = 0
    private var file: BodyFile?
    private var stream: ((UnsafeMutableRawBufferPointer) throws -> Int)?

    /// Stands before a request's first byte.
    public init(_ body: HTTPRequest.Body) {
        switch body {
        case .none: pieces = []
        case .bytes(let bytes): pieces = [.bytes(bytes)]
        case .file(let path, let length): pieces = [.file(path: path, length: length)]
        case .multipart(let multipart): pieces = multipart.pieces
        }
    }

    /// Stands before the first boundary.
    public init(_ body: MultipartBody) { pieces = body.pieces }

    /// Puts the next bytes into `buffer`.
    ///
    /// - Returns: How many, which is fewer than there is room for only at the end; 0 there.
    /// - Throws: ``BodyFileError`` when a file can no longer be read or has become shorter, since the length was told
    ///   before; what a stream throws.
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

    /// Goes back to the first byte: a redirect or an answer to a challenge sends a body again.
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
    /// Writes the whole body into a file, for a sender that takes only files. Waits for the disk.
    ///
    /// - Parameter path: A file that is not there yet only its owner may read; one that is there is overwritten.
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
