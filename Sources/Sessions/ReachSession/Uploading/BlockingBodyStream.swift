internal import CReachLinux
internal import Glibc
internal import ReachLoop
public import ReachSerialization

extension BodyStream {
    /// A body that a function reads, on a thread of its own, which may block.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if it is known.
    ///   - open: Opens the source at its first byte, once for each time that the body is sent.
    public init(length: Int64? = nil, open: @escaping OpenBodyStream) {
        self.init(length: length, isReopened: true, open: open)
    }

    /// - Parameters:
    ///   - isReopened: Whether `open` can be called more than once.
    ///   - interrupt: Ends a read that blocks; called on any thread.
    package init(
        length: Int64?, isReopened: Bool, open: @escaping OpenBodyStream, interrupt: @escaping @Sendable () -> Void = {}
    ) {
        self.init(length: length, isReopened: isReopened) { write in
            let source = BlockingSource(open)
            try await withTaskCancellationHandler {
                while case let chunk = try await source.next(), !chunk.isEmpty {
                    guard try await write(chunk) else { return }
                }
            } onCancel: {
                interrupt()
            }
        }
    }

    /// A body from an open file, pipe, socket or device, which is read from its present position. The descriptor is
    /// duplicated: the caller may close its own at once.
    ///
    /// The length of a regular file is known, and its bytes are read again where they are needed again, from the same
    /// position; its offset stays. Of anything else the bytes are read once.
    ///
    /// - Parameters:
    ///   - fileDescriptor: An open descriptor.
    ///   - length: The number of bytes; by default up to the end.
    /// - Throws: A ``RequestError`` with the word `unreadable-body` for a descriptor that is not open.
    public init(fileDescriptor: CInt, length: Int64? = nil) throws(RequestError) {
        let source: DescriptorSource
        do throws(SystemError) {
            source = try DescriptorSource(fileDescriptor, length: length)
        } catch {
            throw RequestError(ofBody: error)
        }
        self.init(
            length: source.length, isReopened: source.position != nil,
            open: {
                let reader = DescriptorReader(source)
                return { try reader.read(into: $0) }
            },
            interrupt: { source.interrupt() })
    }
}

/// Reads by a function that may block, on a thread of its own.
private final class BlockingSource: Sendable {
    private let thread = SerialThread(named: "reach-body")
    private let reader: Reader

    /// Only the thread uses it, which runs one read at a time, so that it needs no lock.
    private final class Reader: @unchecked Sendable {
        let open: OpenBodyStream
        var read: ((UnsafeMutableRawBufferPointer) throws -> Int)?

        init(_ open: @escaping OpenBodyStream) { self.open = open }

        func next() throws -> [UInt8] {
            let read = try read ?? open()
            self.read = read
            return try [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, filled in
                let room = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<(1 << 16)]))
                filled = min(max(try read(room), 0), 1 << 16)
            }
        }
    }

    init(_ open: @escaping OpenBodyStream) { reader = Reader(open) }

    /// The next bytes; none at the end.
    func next() async throws -> [UInt8] {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            thread.run { [reader] in continuation.resume(with: Result { try reader.next() }) }
        }
    }
}

/// A duplicate of a caller's descriptor.
private final class DescriptorSource: Sendable {
    let length: Int64?
    /// Where a regular file begins; `nil` for anything else.
    let position: Int64?
    private let descriptor: FileDescriptor
    /// Becomes readable when reading is to end.
    private let ending: FileDescriptor

    init(_ original: CInt, length: Int64?) throws(SystemError) {
        descriptor = FileDescriptor(
            owning: try SystemError.check("fcntl") { fcntl(original, F_DUPFD_CLOEXEC, 0) })
        ending = FileDescriptor(
            owning: try SystemError.check("eventfd") { eventfd(0, CInt(EFD_CLOEXEC)) })
        var status = stat()
        let isFile = fstat(descriptor.rawValue, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let position = isFile ? Int64(lseek(descriptor.rawValue, 0, SEEK_CUR)) : nil
        self.position = position
        self.length = length ?? position.map { max(0, Int64(status.st_size) - $0) }
    }

    func interrupt() {
        var one: UInt64 = 1
        _ = Glibc.write(ending.rawValue, &one, MemoryLayout<UInt64>.size)
    }

    /// Waits for bytes, and reads them.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        while true {
            if position == nil { try wait() }
            let count =
                position.map { pread(descriptor.rawValue, buffer.baseAddress, buffer.count, off_t($0 + offset)) }
                ?? Glibc.read(descriptor.rawValue, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR || errno == EAGAIN else { throw SystemError(call: "read") }
        }
    }

    private func wait() throws {
        var polls = [
            pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: ending.rawValue, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&polls, 2, -1) < 0, errno == EINTR {}
        if polls[1].revents != 0 { throw CancellationError() }
    }
}

/// Reads a descriptor up to its end, or its length. Used by one thread only.
private final class DescriptorReader {
    private let source: DescriptorSource
    private var offset: Int64 = 0

    init(_ source: DescriptorSource) { self.source = source }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let room = source.length.map { min(Int64(buffer.count), $0 - offset) } ?? Int64(buffer.count)
        guard room > 0 else { return 0 }
        let count = try source.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)]), at: offset)
        offset += Int64(count)
        return count
    }
}
