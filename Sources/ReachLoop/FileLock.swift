internal import Glibc

/// The right to something that a file stands for. The kernel gives it up with the process, however that ends; the file
/// stays, since one that is removed could be locked by two.
package struct FileLock: ~Copyable {
    /// Why it cannot be had.
    package enum Failure: Error, Hashable, Sendable {
        /// Another process has it; its number, where it could be read.
        case held(process: Int32?)
        case failed(SystemError)
    }

    private let file: FileDescriptor

    /// Takes it, and writes this process's number into the file.
    ///
    /// - Parameter mode: Who else may read that number.
    package init(at path: String, mode: UInt32 = 0o600) throws(Failure) {
        file = FileDescriptor(owning: try Self.take(path, mode))
    }

    /// To close it is not enough: a child that was forked meanwhile, and is not yet its program, has it open too.
    deinit { release() }

    /// Gives it up before the value ends.
    package func release() { flock(file.rawValue, LOCK_UN) }

    private static func take(_ path: String, _ mode: UInt32) throws(Failure) -> CInt {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw .failed(SystemError(call: "open \(path)")) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            defer { close(descriptor) }
            guard number == EWOULDBLOCK else { throw .failed(SystemError(call: "flock \(path)", number: number)) }
            throw .held(process: owner(descriptor))
        }
        let text = Array("\(getpid())\n".utf8)
        ftruncate(descriptor, 0)
        pwrite(descriptor, text, text.count, 0)
        return descriptor
    }

    private static func owner(_ lock: CInt) -> Int32? {
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = max(0, pread(lock, &bytes, bytes.count, 0))
        return Int32(String(decoding: bytes.prefix(count).prefix { 48...57 ~= $0 }, as: UTF8.self))
    }
}
