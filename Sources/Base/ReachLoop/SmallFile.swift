internal import Glibc
internal import ReachCore

/// Reads small files whole, such as those of /proc, /sys and /etc. Blocks on the disk.
package enum SmallFile {
    /// More than any hosts file that people keep by hand.
    package static let standardLimit = 4 << 20

    /// The text of a file, up to a limit in bytes; `nil` if it cannot be read.
    ///
    /// - Parameter directory: An open directory, where a relative path begins.
    package static func text(
        _ path: String, in directory: CInt = AT_FDCWD, limit: Int = standardLimit
    ) -> String? {
        // O_NONBLOCK, so that no one makes the caller wait with a FIFO.
        let file = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            var text: [UInt8] = []
            while text.count < limit {
                let count = read(file, buffer.baseAddress, min(buffer.count, limit - text.count))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return nil }
                // A seq_file returns whole records, so a short read is not the end; only an empty one is.
                if count == 0 { break }
                text += buffer.prefix(count)
            }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// The words of a short file; empty if it cannot be read.
    package static func words(_ path: String) -> [Substring] {
        text(path, limit: 4096)?.textWords ?? []
    }
}

/// The names in a directory.
package enum DirectoryNames {
    /// Reads the names, in the file system's order, without `.` and `..`. Blocks on the disk.
    package static func read(_ path: String) throws(SystemError) -> [String] {
        guard let directory = opendir(path) else { throw SystemError(call: "opendir \(path)") }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
