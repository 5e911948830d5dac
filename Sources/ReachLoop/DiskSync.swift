internal import Glibc

/// Waits until data is on the disk and survives a loss of power. This may take seconds, so it belongs on a file thread.
package enum DiskSync {
    /// Syncs the contents of a file, or the names in a directory.
    ///
    /// - Returns: `errno`, or 0.
    package static func wait(for path: String) -> CInt {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    /// Syncs the directory of `path`, after a file there was created, renamed or removed.
    ///
    /// - Returns: `errno`, or 0.
    package static func wait(forNameOf path: String) -> CInt {
        let slash = path.lastIndex(of: "/")
        return wait(for: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    }
}
