internal import Glibc
internal import ReachCore

/// The path of the daemon's socket.
package enum SocketPath {
    /// The socket of the machine's daemon, which runs as root.
    package static let system = "/run/reach/reach.sock"

    /// The path at which a daemon of this user listens: `REACH_SOCKET`, or the default.
    package static func `default`(uid: UInt32, environment: (String) -> String?) -> String {
        if let path = named(environment) { return path }
        if uid == 0 { return system }
        return (runtimeDirectory(environment) ?? "/run/user/\(uid)") + "/reach/reach.sock"
    }

    /// The path to which a client of this user connects: the machine's daemon if the user has none of their own at the
    /// default path.
    ///
    /// - Parameter isOwn: Whether there is a socket that only this user or root can have put there.
    package static func forClient(
        uid: UInt32, environment: (String) -> String?, isOwn: (String, UInt32) -> Bool = isOwn
    ) -> String {
        let path = Self.default(uid: uid, environment: environment)
        return named(environment) != nil || path == system || isOwn(path, uid) ? path : system
    }

    /// Whether there is a socket in a directory of the user's, or of root's, in another one. `su` keeps the variable
    /// `XDG_RUNTIME_DIR` of the user before, who could listen there and read what is sent.
    package static func isOwn(_ path: String, uid: UInt32) -> Bool {
        guard access(path, F_OK) == 0 else { return false }
        let directory = parent(of: path)
        return [directory, parent(of: directory)].allSatisfy { belongs($0, to: uid) }
    }

    private static func parent(of path: String) -> String {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// Whether only the user and root can exchange what is in a directory. A sticky one, such as /tmp, lets others add
    /// to it.
    private static func belongs(_ directory: String, to uid: UInt32) -> Bool {
        var facts = stat()
        guard lstat(directory, &facts) == 0, facts.st_mode & S_IFMT == S_IFDIR else { return false }
        let isShared = facts.st_mode & (S_IWGRP | S_IWOTH) != 0 && facts.st_mode & S_ISVTX == 0
        return (facts.st_uid == uid || facts.st_uid == 0) && !isShared
    }

    /// The path to which this process connects, if its user names no other.
    package static var forThisProcess: String { forClient(uid: getuid(), environment: processEnvironment) }

    /// Reads a variable of this process's environment.
    package static func processEnvironment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func named(_ environment: (String) -> String?) -> String? {
        environment("REACH_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `XDG_RUNTIME_DIR`, unless it is relative: the XDG Base Directory Specification requires ignoring that.
    private static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        environment("XDG_RUNTIME_DIR").flatMap { $0.hasUTF8Prefix("/") ? $0 : nil }
    }
}
