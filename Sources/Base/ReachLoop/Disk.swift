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
        let slash = path.unicodeScalars.lastIndex(of: "/")
        return wait(for: slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? ".")
    }
}

/// The size of a file system, and what is free of it.
package struct DiskSpace: Hashable, Sendable {
    /// Bytes that a process without privileges may still write.
    package let available: Int64
    package let size: Int64

    /// Asks for the file system that has this path. On a disk that hangs the call does not return.
    package static func measure(at path: String) throws(SystemError) -> DiskSpace {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw SystemError(call: "statvfs \(path)") }
        let (available, tooMuch) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        let (size, tooLarge) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize))
        return DiskSpace(available: tooMuch ? .max : available, size: tooLarge ? .max : size)
    }
}
