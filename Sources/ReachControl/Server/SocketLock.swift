internal import Glibc
internal import ReachLoop

/// The right to a socket's path, as a lock on the file beside it. The kernel gives it up with the process, however that
/// ends; the file stays, since one that is removed could be locked by two.
struct SocketLock: ~Copyable {
    private let file: FileDescriptor

    /// - Throws: ``ListenError/inUse(path:process:)`` with the number its owner has written.
    init(for path: String) throws(ListenError) { file = FileDescriptor(owning: try Self.lock(path)) }

    private static func lock(_ path: String) throws(ListenError) -> CInt {
        let lockPath = path + ".lock"
        let descriptor = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw .failed(path: lockPath, SystemError(call: "open")) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            defer { close(descriptor) }
            guard number == EWOULDBLOCK else {
                throw .failed(path: lockPath, SystemError(call: "flock", number: number))
            }
            throw .inUse(path: path, process: owner(descriptor))
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
