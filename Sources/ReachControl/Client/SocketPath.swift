internal import Glibc

/// Where the daemon's socket is.
package enum SocketPath {
    /// The one of the daemon that root runs for the machine.
    package static let system = "/run/reach/reach.sock"

    /// Where a daemon of this user listens: `REACH_SOCKET`, or the usual place.
    package static func `default`(uid: UInt32, environment: (String) -> String?) -> String {
        if let path = named(environment) { return path }
        if uid == 0 { return system }
        return (runtimeDirectory(environment) ?? "/run/user/\(uid)") + "/reach/reach.sock"
    }

    /// Where a client of this user looks: if nothing is at the usual place, the machine's daemon will do.
    package static func forClient(
        uid: UInt32, environment: (String) -> String?, exists: (String) -> Bool = { access($0, F_OK) == 0 }
    ) -> String {
        let path = Self.default(uid: uid, environment: environment)
        return named(environment) != nil || exists(path) ? path : system
    }

    /// The environment of this process.
    package static func processEnvironment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static func named(_ environment: (String) -> String?) -> String? {
        environment("REACH_SOCKET").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The XDG base directory specification has relative paths ignored.
    private static func runtimeDirectory(_ environment: (String) -> String?) -> String? {
        environment("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
}
