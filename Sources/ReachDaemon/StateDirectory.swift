internal import Glibc
package import ReachLoop

/// The directory of what outlives the daemon, which one daemon owns at a time.
package struct StateDirectory: ~Copyable {
    package let path: String
    private let lock: FileLock

    /// Makes it if need be, and claims it.
    package init(_ path: String) throws(FileLock.Failure) {
        do throws(SystemError) {
            try Self.make(path, mode: 0o755)
        } catch {
            throw .failed(error)
        }
        lock = try FileLock(at: path + "/reachd.lock", mode: 0o644)
        self.path = path
    }

    /// Directories above it are made as the XDG base directory specification has them: for their owner alone.
    private static func make(_ path: String, mode: mode_t) throws(SystemError) {
        if mkdir(path, mode) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemError(call: "mkdir \(path)")
        }
        try make(String(path[..<slash]), mode: 0o700)
        _ = try SystemError.check("mkdir \(path)") { mkdir(path, mode) }
    }
}
