internal import HTTPTypes
internal import ReachCore

/// The parts of a multipart body, laid out as AFNetworking lays them out.
///
/// The length is known before any byte is read. ``BodyReader`` reads the body, each time that it is sent.
public struct MultipartBody: Sendable {
    struct Part: Sendable {
        let headers: HTTPFields
        let source: BodyPiece
    }

    /// The pieces in the order on the wire.
    let pieces: [BodyPiece]
    /// The length of the body in bytes.
    public let contentLength: Int64
    /// The text that separates the parts.
    public let boundary: String

    /// Lays out a form. A form without parts is only the final boundary.
    public init(_ form: MultipartForm) {
        var pieces: [BodyPiece] = []
        var encoder = MultipartEncoder(boundary: form.boundary)
        for part in form.parts {
            let fields = part.headers.map { field in (field.name.rawName, field.withUnsafeBytesOfValue(Array.init)) }
            pieces += [.bytes(encoder.head(fields)), part.source]
        }
        pieces.append(.bytes(encoder.end))
        self.pieces = pieces
        contentLength = pieces.reduce(0) { $0 + $1.length }
        boundary = form.boundary
    }

    /// The bytes of the parts that are not in files or streams.
    package var bytesInMemory: Int64 {
        pieces.reduce(0) { if case .bytes(let bytes) = $1 { $0 + Int64(bytes.count) } else { $0 } }
    }

    /// The value of `Content-Type`, which contains the boundary.
    public var contentType: String { "multipart/form-data; boundary=\(MultipartBoundary.parameter(boundary))" }
}

/// The text that separates the parts of a multipart body (RFC 2046, 5.1.1).
enum MultipartBoundary {
    static func isValid(_ text: String) -> Bool {
        1...70 ~= text.utf8.count && text.utf8.last != UInt8(ascii: " ")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122: true
                default: "'()+_,-./:=? ".utf8.contains(byte)
                }
            }
    }

    /// The boundary as a parameter of a content type: in quotation marks where it is no token.
    static func parameter(_ boundary: String) -> String {
        RequestFieldFault.isToken(boundary) ? boundary : "\"\(boundary)\""
    }
}

/// A piece of a body, in the order on the wire.
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

/// Opens a stream of bytes at its beginning.
///
/// The function that it returns is called until all bytes are read, each time with a buffer for at least one byte, and
/// returns the number of bytes read; 0 at the end.
public typealias OpenBodyStream = @Sendable () throws -> (UnsafeMutableRawBufferPointer) throws -> Int

/// The media types of files, by extension.
///
/// A short table of the types that programs upload, with the names that Apple's systems use. The machine's own list is
/// not read, since it differs from one machine to the next.
public enum MediaType {
    /// The media type of a file name's extension; `application/octet-stream` if unknown.
    public static func named(by fileName: String) -> String {
        guard let dot = fileName.unicodeScalars.lastIndex(of: "."), dot != fileName.startIndex else { return unknown }
        return table[fileName[fileName.unicodeScalars.index(after: dot)...].lowercased()] ?? unknown
    }

    private static let unknown = "application/octet-stream"

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "bmp": "image/bmp",
        "bz2": "application/x-bzip2", "cer": "application/x-x509-ca-cert", "crt": "application/x-x509-ca-cert",
        "css": "text/css", "csv": "text/csv", "der": "application/x-x509-ca-cert",
        "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
        "ico": "image/x-icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "log": "text/plain", "m4a": "audio/mp4",
        "md": "text/markdown", "mov": "video/quicktime", "mp3": "audio/mpeg", "mp4": "video/mp4",
        "mpeg": "video/mpeg", "mpg": "video/mpeg", "ogg": "audio/ogg", "p12": "application/x-pkcs12",
        "pcap": "application/vnd.tcpdump.pcap", "pdf": "application/pdf", "pem": "application/x-pem-file",
        "plist": "application/x-plist", "png": "image/png", "rtf": "application/rtf", "svg": "image/svg+xml",
        "tar": "application/x-tar", "tif": "image/tiff", "tiff": "image/tiff", "txt": "text/plain",
        "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xz": "application/x-xz", "yaml": "application/yaml", "yml": "application/yaml",
        "zip": "application/zip", "zst": "application/zstd",
    ]
}
