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

    /// The path to which a client of this user connects: the machine's daemon if there is no socket at the default
    /// path.
    package static func forClient(
        uid: UInt32, environment: (String) -> String?, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        let path = Self.default(uid: uid, environment: environment)
        return named(environment) != nil || exists(path) ? path : system
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
