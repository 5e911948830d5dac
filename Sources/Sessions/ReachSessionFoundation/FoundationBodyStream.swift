public import Foundation
public import ReachSerialization
public import ReachSession

/// Bodies from Foundation's streams.
extension BodyStream {
    /// A body from an `InputStream`, which is read once, on a thread of its own: `HTTPBodyStream` of NSURLRequest. It
    /// is opened if it is not open, and closed at its end.
    ///
    /// A read that blocks cannot be interrupted: after a cancellation its thread ends when the read does. Where a body
    /// may be needed again, `BodyStream(length:open:)` makes streams.
    ///
    /// - Parameters:
    ///   - stream: The stream. No one else must use it any more.
    ///   - length: The number of bytes, if it is known.
    public init(_ stream: InputStream, length: Int64? = nil) {
        let source = SoleStream(stream)
        self.init(length: length, isReopened: false, open: { { try source.read(into: $0) } })
    }

    /// A body from a `FileHandle`, as from its descriptor.
    ///
    /// - Parameters:
    ///   - handle: An open handle. It may be closed at once.
    ///   - length: The number of bytes; by default up to the end.
    /// - Throws: A `RequestError` with the word `unreadable-body` for a handle that is not open.
    public init(_ handle: FileHandle, length: Int64? = nil) throws(RequestError) {
        try self.init(fileDescriptor: handle.fileDescriptor, length: length)
    }
}

/// A stream that the thread of its body uses, one read at a time: so it needs no lock.
private final class SoleStream: @unchecked Sendable {
    private let stream: InputStream

    init(_ stream: InputStream) { self.stream = stream }

    deinit { stream.close() }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if stream.streamStatus == .notOpen { stream.open() }
        guard let start = buffer.bindMemory(to: UInt8.self).baseAddress else { return 0 }
        let count = stream.read(start, maxLength: buffer.count)
        guard count < 0 else { return count }
        throw stream.streamError
            ?? RequestError(kind: .local, word: "unreadable-body", description: "the stream failed")
    }
}
