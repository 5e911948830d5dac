internal import Glibc
package import ReachCore
package import ReachLoop

/// The key from which the identifiers of networks without a name are made: `network.key` in the state directory, for
/// its owner alone. It is made once, so that identifiers stay the same; without it they are of no use.
package enum NetworkKeyFile {
    /// Reads the key, or makes it.
    ///
    /// - Parameter directory: The state directory, which only the daemon's user can write to.
    package static func key(in directory: String) throws(SystemError) -> NetworkKey {
        let path = directory + "/network.key"
        if let key = try read(path) { return key }
        let bytes = (0..<NetworkKey.byteCount).map { _ in UInt8.random(in: 0 ... .max) }
        try write(bytes, to: path)
        guard let key = NetworkKey(bytes) else { throw SystemError(call: "make \(path)", number: EINVAL) }
        return key
    }

    /// - Returns: `nil` if there is no whole key.
    private static func read(_ path: String) throws(SystemError) -> NetworkKey? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemError(call: "open \(path)")
        }
        let owner = FileDescriptor(owning: file)
        var status = stat()
        // What others could have read or written is no secret.
        guard fstat(owner.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 == 0,
            status.st_uid == geteuid()
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: NetworkKey.byteCount + 1)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(owner.rawValue, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw SystemError(call: "read \(path)") }
        return NetworkKey(bytes.prefix(count))
    }

    /// The file is complete, or not there: a loss of power in between only means that identifiers change.
    private static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
        let temporary = path + ".new"
        unlink(temporary)
        let file = try SystemError.check("create \(temporary)") {
            open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        }
        let owner = FileDescriptor(owning: file)
        _ = try SystemError.check("write \(temporary)") { CInt(Glibc.write(owner.rawValue, bytes, bytes.count)) }
        _ = try SystemError.check("fsync \(temporary)") { fsync(owner.rawValue) }
        _ = try SystemError.check("rename \(temporary)") { rename(temporary, path) }
    }
}
