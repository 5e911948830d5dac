internal import CCurl
internal import ReachCore

/// Decodes the body of a response as far as its reader wants.
///
/// libcurl's own decoders do not stop before the end of what was received: 16 KiB of gzip stand for 16 MiB at most, and
/// a few bytes of brotli for any number. This one keeps what it has not decoded yet, a piece of libcurl's at most.
final class ContentDecoder {
    private let decoder: OpaquePointer
    /// Decodes what this one makes, where a body is encoded several times; `nil` for the last one.
    private var inner: ContentDecoder?
    /// What is not decoded yet begins at `position`.
    private var encoded: [UInt8] = []
    private var position = 0
    /// Whether the decoder may hold more, for which there was no space.
    private var isFull = false
    private var hasBegun = false
    private var state = REACH_DECODES

    /// What is decoded at a time.
    static let pieceBytes = 64 << 10

    private static let known: [(name: String, encoding: reach_encoding)] = [
        ("deflate", REACH_DEFLATE), ("gzip", REACH_GZIP), ("br", REACH_BROTLI), ("zstd", REACH_ZSTD),
    ].filter { reach_encoding_known($0.encoding) != 0 }

    /// The encodings that it decodes, as a field lists them for servers. Empty if there are none.
    static let encodings = known.map(\.name).joined(separator: ", ")

    /// - Parameter field: The value of Content-Encoding.
    /// - Returns: `nil` for an encoding that is not known, for too many, and for none: the body is then passed on as it
    ///   came.
    convenience init?(_ field: String) {
        let names = field.split(scalar: ",").map { String($0.trimmed).lowercased() }
            .filter { !["identity", "none", ""].contains($0) }
        guard names.count <= Self.mostEncodings else { return nil }
        self.init(names[...])
    }

    /// The last one was applied last, and is undone first.
    private init?(_ names: ArraySlice<String>) {
        guard let name = names.last,
            let encoding = Self.known.first(where: { $0.name == name || "x-\($0.name)" == name })?.encoding,
            let decoder = reach_decoder_new(encoding)
        else { return nil }
        self.decoder = decoder
        guard names.count > 1 else { return }
        inner = ContentDecoder(names.dropLast())
        if inner == nil { return nil }
    }

    /// As many as libcurl accepts.
    private static let mostEncodings = 5

    deinit { reach_decoder_free(decoder) }

    /// Whether something may be left to decode.
    var hasMore: Bool { position < encoded.count || isFull || inner?.hasMore == true }

    /// Whether the content ends too early. No body at all is no such fault.
    var isTruncated: Bool { hasBegun && state == REACH_DECODES || inner?.isTruncated == true }

    /// Adds bytes to decode.
    func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        hasBegun = true
        encoded.removeSubrange(..<position)
        position = 0
        encoded.append(contentsOf: bytes)
    }

    /// Decodes the next piece into `space`.
    ///
    /// - Returns: The number of its bytes; `nil` if the body is not in this encoding.
    func next(into space: UnsafeMutableRawBufferPointer) -> Int? {
        guard let inner else { return decode(into: space) }
        if !inner.hasMore {
            guard let count = decode(into: space) else { return nil }
            inner.append(UnsafeRawBufferPointer(rebasing: space[..<count]))
        }
        return inner.next(into: space)
    }

    private func decode(into space: UnsafeMutableRawBufferPointer) -> Int? {
        var (left, room) = (encoded.count - position, space.count)
        let target = space.baseAddress?.assumingMemoryBound(to: UInt8.self)
        state = encoded.withUnsafeBufferPointer {
            reach_decoder_run(decoder, $0.baseAddress.map { $0 + position }, &left, target, &room)
        }
        position = encoded.count - left
        isFull = room == 0
        guard state != REACH_DAMAGED else { return nil }
        return space.count - room
    }
}
