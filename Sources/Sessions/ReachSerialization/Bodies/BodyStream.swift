public import FoundationEssentials

/// A body that is read while it is sent, from a source of known or unknown length.
///
///     let recording = AsyncStream<[UInt8]> { ... }
///     let task = try session.upload(stream: BodyStream(recording), to: "recordings/1", method: "POST")
///
/// The source is read no faster than the server accepts its bytes: at most a quarter of a mebibyte and one chunk wait.
/// Without a length the body is sent in chunks where the server speaks HTTP/1.1. An error that the source throws ends
/// the request, and is the `underlyingError` of its `RequestError`; so does a source that ends before its length or
/// after it.
///
/// Some answers need the body again: a redirect with the status 307 or 308, a challenge for credentials, a failure that
/// is retried. What happens then depends on the source:
///
/// - A source that was made by a function is made again: ``init(length:opening:)``.
/// - A body that is ``spooled()`` is read again from a file.
/// - Any other is read once. The request fails with the word `body-consumed`.
///
/// A session with a directory stores requests, and spools every body of this kind.
public struct BodyStream: Sendable {
    /// Takes the next chunk; returns `false` where no more is wanted.
    package typealias Write = @Sendable ([UInt8]) async throws -> Bool

    /// The length in bytes; `nil` if only the end shows it.
    public let length: Int64?
    /// Whether the source can be read again from its first byte.
    public let isReopened: Bool
    /// Whether the body is copied to a file before it is sent.
    public private(set) var isSpooled = false
    /// Reads the source from its first byte, and writes its chunks.
    package let produce: @Sendable (_ write: Write) async throws -> Void

    package init(length: Int64?, isReopened: Bool, produce: @escaping @Sendable (_ write: Write) async throws -> Void) {
        self.length = length.map { max($0, 0) }
        self.isReopened = isReopened
        self.produce = produce
    }

    /// A body from a sequence of chunks, such as `[UInt8]` or `Data`, which is read once.
    ///
    /// - Parameters:
    ///   - chunks: The bytes.
    ///   - length: The number of bytes in all chunks together, if it is known.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks, length: Int64? = nil)
    where Chunks.Element: DataProtocol {
        self.init(length: length, isReopened: false) { try await Self.write(chunks, $0) }
    }

    /// A body from a sequence of bytes, which is read once. Bytes are sent in pieces of 16 KiB: where each has to be
    /// sent as soon as it is there, use a sequence of chunks.
    public init<Bytes: AsyncSequence & Sendable>(_ bytes: Bytes, length: Int64? = nil) where Bytes.Element == UInt8 {
        self.init(length: length, isReopened: false) { try await Self.write(bytes: bytes, $0) }
    }

    /// A body from sequences of chunks that a function makes, one for each time that the body is sent.
    ///
    /// - Parameters:
    ///   - length: The number of bytes in all chunks of one sequence together, if it is known.
    ///   - open: Makes a sequence that begins at the first byte. What it throws ends the request.
    public init<Chunks: AsyncSequence & SendableMetatype>(
        length: Int64? = nil, opening open: @escaping @Sendable () async throws -> Chunks
    ) where Chunks.Element: DataProtocol {
        self.init(length: length, isReopened: true) { try await Self.write(try await open(), $0) }
    }

    /// The same body, copied to a file before it is sent, so that it can be sent again. The copy is made when the task
    /// is resumed, also without a network, and is at most `maximumBytes` of the session's options long. In a session in
    /// memory the file is in the directory for temporary files (`TMPDIR`), and has no name.
    public func spooled() -> BodyStream {
        var copy = self
        copy.isSpooled = true
        return copy
    }

    private static func write<Chunks: AsyncSequence>(_ chunks: Chunks, _ write: Write) async throws
    where Chunks.Element: DataProtocol {
        for try await chunk in chunks where !chunk.isEmpty {
            guard try await write(Array(chunk)) else { return }
        }
    }

    private static let pieceBytes = 16 << 10

    private static func write<Bytes: AsyncSequence>(bytes: Bytes, _ write: Write) async throws
    where Bytes.Element == UInt8 {
        var piece: [UInt8] = []
        piece.reserveCapacity(pieceBytes)
        for try await byte in bytes {
            piece.append(byte)
            guard piece.count == pieceBytes else { continue }
            guard try await write(piece) else { return }
            piece.removeAll(keepingCapacity: true)
        }
        if !piece.isEmpty { _ = try await write(piece) }
    }
}

extension BodyStream {
    /// Reads the source as ``produce`` does, and checks its length. Of a known length the last bytes are written when
    /// the source has ended: a request whose body is too long is not complete before that is known.
    package func produceChecked(_ write: @escaping Write) async throws {
        guard let length else { return try await produce(write) }
        let counter = LengthCounter(length: length)
        try await produce { chunk in
            guard let ready = try await counter.add(chunk) else { return true }
            return try await write(ready)
        }
        if let last = try await counter.end() { _ = try await write(last) }
    }
}

/// Counts the bytes of a source, and holds those that complete its length.
private actor LengthCounter {
    private let length: Int64
    private var found: Int64 = 0
    private var last: [UInt8]?

    init(length: Int64) { self.length = length }

    func add(_ chunk: [UInt8]) throws(BodyStreamError) -> [UInt8]? {
        found += Int64(chunk.count)
        guard found <= length else { throw .tooLong(length: length) }
        guard found == length else { return chunk }
        last = chunk
        return nil
    }

    func end() throws(BodyStreamError) -> [UInt8]? {
        guard found == length else { throw .tooShort(length: length, found: found) }
        return last
    }
}

/// The source of a ``BodyStream`` does not have the length that it was given.
public enum BodyStreamError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It ended before.
    case tooShort(length: Int64, found: Int64)
    /// It goes on.
    case tooLong(length: Int64)
    /// It was to be read by a ``BodyReader``, which does not wait.
    case asynchronous

    /// A sentence for people.
    public var description: String {
        switch self {
        case .tooShort(let length, let found): "the body ended after \(found) of \(length) bytes"
        case .tooLong(let length): "the body has more than its \(length) bytes"
        case .asynchronous: "a body from a stream can only be read while it is sent"
        }
    }
}
