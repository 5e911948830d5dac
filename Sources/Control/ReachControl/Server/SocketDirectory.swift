internal import Glibc
internal import ReachLoop

/// The directory of a socket, created if it is missing, and checked: a user that can replace the socket can pose as the
/// daemon.
struct SocketDirectory {
    let path: String

    init(of socketPath: String) {
        guard let slash = socketPath.unicodeScalars.lastIndex(of: "/") else {
            path = "."
            return
        }
        path = slash == socketPath.startIndex ? "/" : String(socketPath[..<slash])
    }

    /// Whether others can make files there, as in /tmp.
    private(set) var isShared = false

    mutating func prepare() throws(ListenError) {
        var information = stat()
        if stat(path, &information) != 0, errno == ENOENT {
            // EEXIST: another process made it in the meantime. It is checked like any other.
            if mkdir(path, 0o755) != 0, errno != EEXIST { throw .failed(path: path, SystemError(call: "mkdir")) }
            errno = 0
        }
        guard stat(path, &information) == 0 else { throw .failed(path: path, SystemError(call: "stat")) }
        if let reason = Self.objection(mode: information.st_mode, owner: information.st_uid, user: geteuid()) {
            throw .unsafeDirectory(path, reason: reason)
        }
        isShared = information.st_mode & 0o022 != 0
    }

    /// The problem with a directory; `nil` if there is none. In a sticky directory, such as /tmp, only the owner of a
    /// file can replace it.
    static func objection(mode: mode_t, owner: uid_t, user: uid_t) -> String? {
        guard mode & S_IFMT == S_IFDIR else { return "it is no directory" }
        guard owner == 0 || owner == user else { return "it belongs to user \(owner)" }
        guard mode & 0o022 == 0 || mode & S_ISVTX != 0 else { return "others can write there" }
        return nil
    }
}
