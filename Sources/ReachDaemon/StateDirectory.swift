internal import Glibc
internal import ReachLoop

/// The directory of what outlives the daemon, which one daemon owns at a time.
struct StateDirectory: ~Copyable {
    let path: String
    private let lock: FileLock

    /// Makes it, if its parent is there, and claims it.
    init(_ path: String) throws(FileLock.Failure) {
        if mkdir(path, 0o755) != 0, errno != EEXIST { throw .failed(SystemError(call: "mkdir \(path)")) }
        lock = try FileLock(at: path + "/reachd.lock", mode: 0o644)
        self.path = path
    }
}
