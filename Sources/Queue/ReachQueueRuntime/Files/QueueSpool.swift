internal import Glibc
internal import ReachCore
package import ReachLoop
internal import ReachQueue
internal import ReachTransfer

/// The files of bodies that are too long for the database: those to be sent, and answers. Confined to the loop; the
/// disk is waited for on a thread for files.
///
/// All are readable by their owner alone (0600, in a directory of 0700). What no request names is removed when the
/// queue is opened the next time.
package final class QueueSpool {
    private let directory: String
    private let prefix: String
    private let thread = SerialThread.files
    private let replies: LoopReplies

    package init(_ directory: String, on loop: EventLoop) {
        self.directory = directory
        prefix = directory + "/"
        replies = LoopReplies(loop: loop)
    }

    package func path(_ name: String) -> String { prefix + name }

    /// Appends to a file, and makes it if it is not there.
    ///
    /// - Parameter reply: How long it is now, or `errno`.
    package func append(_ bytes: [UInt8], to name: String, reply: @escaping (Result<Int64, SystemError>) -> Void) {
        append(to: name, reply: reply) { file throws(SystemError) in try FileDescriptor.write(bytes, to: file) }
    }

    /// Appends to a file as ``append(_:to:reply:)`` does.
    package func append(
        _ memory: SealedMemory, to name: String, reply: @escaping (Result<Int64, SystemError>) -> Void
    ) {
        append(to: name, reply: reply) { file throws(SystemError) in try memory.append(to: file) }
    }

    private func append(
        to name: String, reply: @escaping (Result<Int64, SystemError>) -> Void,
        _ write: @escaping @Sendable (CInt) throws(SystemError) -> Void
    ) {
        let answer = replies.expect(reply)
        thread.run { [path = path(name)] in
            answer(Result { () throws(SystemError) in try Self.append(to: path, write) })
        }
    }

    /// Waits until a file is safe on the disk, its name included.
    ///
    /// - Parameter reply: 0, or `errno`.
    package func seal(_ name: String, reply: @escaping (CInt) -> Void) {
        let answer = replies.expect(reply)
        thread.run { [path = path(name), directory] in
            let file = DiskSync.wait(for: path)
            answer(file == 0 ? DiskSync.wait(for: directory) : file)
        }
    }

    /// Reads a part of a file. Fewer bytes than asked for are the end of it.
    package func read(
        _ name: String, from offset: Int64, _ count: Int, reply: @escaping (Result<[UInt8], SystemError>) -> Void
    ) {
        let answer = replies.expect(reply)
        thread.run { [path = path(name)] in
            answer(Result { () throws(SystemError) in try Self.read(path, from: offset, count) })
        }
    }

    /// Measures the disk.
    ///
    /// - Parameter reply: Called on the loop; not called if the disk cannot be measured.
    package func measure(reply: @escaping (DiskSpace) -> Void) {
        let answer = replies.expect { (result: Result<DiskSpace, SystemError>) in
            if case .success(let space) = result { reply(space) }
        }
        thread.run { [directory] in
            answer(Result { () throws(SystemError) in try DiskSpace.measure(at: directory) })
        }
    }

    package func remove(_ name: String) {
        thread.run { [path = path(name)] in unlink(path) }
    }

    /// Waits until an answer is safe on the disk. From then on it is whole, and its record is gone.
    ///
    /// - Parameter reply: 0, or `errno`.
    func sealAnswer(of id: RequestID, reply: @escaping (CInt) -> Void) {
        remove(QueueDirectory.recordName(id))
        seal(QueueDirectory.answerName(id), reply: reply)
    }

    /// Removes what there is of an answer.
    func removeAnswer(of id: RequestID) {
        for name in [QueueDirectory.recordName(id), QueueDirectory.answerName(id)] { remove(name) }
    }

    // MARK: On the thread for files

    private static func append(
        to path: String, _ write: (CInt) throws(SystemError) -> Void
    ) throws(SystemError) -> Int64 {
        // Not O_APPEND, which sendfile(2) refuses. Nothing else writes to the file.
        let file = try FileDescriptor(
            owning: SystemError.check("open \(path)") {
                open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
            })
        lseek(file.rawValue, 0, SEEK_END)
        try write(file.rawValue)
        return Int64(lseek(file.rawValue, 0, SEEK_END))
    }

    private static func read(_ path: String, from offset: Int64, _ count: Int) throws(SystemError) -> [UInt8] {
        let file = try FileDescriptor(
            owning: SystemError.check("open \(path)") { open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) })
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes[filled...].withUnsafeMutableBytes {
                pread(file.rawValue, $0.baseAddress, $0.count, Int(offset) + filled)
            }
            if got < 0, errno != EINTR { throw SystemError(call: "read \(path)") }
            if got == 0 { break }
            filled += max(0, got)
        }
        return Array(bytes.prefix(filled))
    }
}
