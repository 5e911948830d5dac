internal import Glibc

/// Splits a stream of bytes into messages, each of which ends with a NUL.
package struct FrameReader: Sendable {
    package struct TooLong: Error, Hashable, Sendable {
        package let limit: Int
    }

    /// The longest message in bytes, without its NUL.
    package static let standardLimit = 1 << 20

    private let limit: Int
    private var buffer: [UInt8] = []
    /// The offset of the first message not yet returned.
    private var start = 0
    /// The offset before which there is no NUL: each byte is searched once, however many pieces arrive.
    private var searched = 0

    package init(limit: Int = standardLimit) { self.limit = limit }

    /// Bytes not yet returned as messages.
    package var pendingCount: Int { buffer.count - start }

    package mutating func append(_ bytes: some Collection<UInt8>) { buffer += bytes }

    /// - Returns: The next complete message without its NUL; `nil` until more bytes arrive.
    /// - Throws: ``TooLong`` if a message exceeds the limit, and in every later call: the start of the next message is
    ///   unknown.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        let end = firstNUL
        searched = end ?? buffer.count
        guard searched - start <= limit else { throw TooLong(limit: limit) }
        guard let end else {
            compact()
            return nil
        }
        let frame = Array(buffer[start..<end])
        start = end + 1
        searched = start
        if start == buffer.count { compact() }
        return frame
    }

    /// The offset of the first NUL that is not yet found.
    private var firstNUL: Int? {
        buffer.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, searched < bytes.count else { return nil }
            return memchr(start + searched, 0, bytes.count - searched).map { UnsafeRawPointer($0) - start }
        }
    }

    /// Drops returned messages, and frees the memory that a large message needed.
    private mutating func compact() {
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: buffer.capacity <= 4096)
        } else {
            buffer.removeFirst(start)
        }
        searched -= start
        start = 0
    }
}
