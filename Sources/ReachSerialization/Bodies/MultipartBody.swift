/// The parts of a multipart body, laid out as AFNetworking lays them out:
///
///     --BOUNDARY CRLF headers CRLF CRLF bytes
///     CRLF --BOUNDARY CRLF headers CRLF CRLF bytes
///     CRLF --BOUNDARY-- CRLF
///
/// Its length is known before a byte of it is read. ``BodyReader`` reads it, as often as it has to be sent.
public struct MultipartBody: Sendable {
    struct Part: Sendable {
        let headers: HTTPHeaders
        let source: BodyPiece
    }

    /// What follows one another on the wire.
    let pieces: [BodyPiece]
    /// How many bytes go over the wire.
    public let contentLength: Int64
    /// What separates the parts.
    public let boundary: String

    /// A form as it goes over the wire. One without parts is only the last boundary.
    public init(_ form: MultipartForm) {
        var pieces: [BodyPiece] = []
        for (index, part) in form.parts.enumerated() {
            var head = index == 0 ? "--\(form.boundary)\r\n" : "\r\n--\(form.boundary)\r\n"
            for header in part.headers.fields { head += "\(header.name): \(header.value)\r\n" }
            pieces += [.bytes(Array((head + "\r\n").utf8)), part.source]
        }
        pieces.append(.bytes(Array("\r\n--\(form.boundary)--\r\n".utf8)))
        self.pieces = pieces
        contentLength = pieces.reduce(0) { $0 + $1.length }
        boundary = form.boundary
    }

    /// The header that tells a server the boundary.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

/// How slowly to send, for links that break under a fast upload. Who sends obeys it; a reader does not wait.
public struct UploadPace: Hashable, Sendable {
    /// The bytes that go at once.
    public let packetSize: Int
    /// What passes between two packets.
    public let delay: Duration

    /// Packets of `packetSize` bytes, `delay` apart.
    public init(packetSize: Int, delay: Duration) {
        self.packetSize = packetSize
        self.delay = delay
    }

    /// AFNetworking's suggestion for 3G: 16 KiB every 0.2 s, where bodies with unknown ends were cut.
    public static let suggestedFor3G = UploadPace(packetSize: 16 * 1024, delay: .milliseconds(200))
}
