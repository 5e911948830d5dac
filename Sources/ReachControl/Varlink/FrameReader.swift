/// Cuts a stream of bytes into messages, which end with a NUL.
package struct FrameReader: Sendable {
    package struct TooLong: Error, Hashable, Sendable {
        package let limit: Int
    }

    /// The NUL not counted.
    package static let standardLimit = 1 << 20

    private let limit: Int
    private var buffer: [UInt8] = []
    /// Where the first message that was not taken begins.
    private var start = 0
    /// No NUL is before this place: bytes are looked at once, however many pieces they come in.
    private var searched = 0

    package init(limit: Int = standardLimit) { self.limit = limit }

    /// Bytes that belong to no taken message.
    package var pendingCount: Int { buffer.count - start }

    package mutating func append(_ bytes: some Collection<UInt8>) { buffer += bytes }

    /// - Returns: The next whole message without its NUL, or `nil` until more bytes come.
    /// - Throws: ``TooLong``, from then on, when a message is: there is no telling where the next one begins.
    package mutating func next() throws(TooLong) -> [UInt8]? {
        let end = buffer[searched...].firstIndex(of: 0)
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

    /// Forgets what was taken, and gives back the room that a large message needed.
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
