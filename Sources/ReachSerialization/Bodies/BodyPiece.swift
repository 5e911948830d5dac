/// What follows one another in a body on the wire.
enum BodyPiece: Sendable {
    case bytes([UInt8])
    case file(path: String, length: Int64)
    case stream(length: Int64, open: OpenBodyStream)

    var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length), .stream(let length, _): length
        }
    }
}

/// Begins a stream of bytes anew.
///
/// What it returns is called until all bytes are there, each time with room for at least one, and answers how many it put
/// there. 0 means that there are no more.
public typealias OpenBodyStream = @Sendable () throws -> (UnsafeMutableRawBufferPointer) throws -> Int
