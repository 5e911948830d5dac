internal import Glibc

/// Waits until something is safe on the disk, whatever becomes of the machine then. It may take long: for threads for files.
package enum DiskSync {
    /// What was written to a file, or the names that a directory has.
    ///
    /// - Returns: `errno`, or 0.
    package static func wait(for path: String) -> CInt {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    /// That a file has this name, or has it no more: what its directory says.
    ///
    /// - Returns: `errno`, or 0.
    package static func wait(forNameOf path: String) -> CInt {
        let slash = path.lastIndex(of: "/")
        return wait(for: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    }
}
