internal import Glibc
internal import ReachCore
internal import ReachLoop
internal import ReachTOML

/// A directory of further configuration files, such as `/etc/reach/reach.d`: packages and tools put files there instead
/// of changing the administrator's.
///
/// The directory is found by its name alone. So neither it, nor the directory that contains it, nor a file in it may be
/// writable for users whom the daemon does not trust: whoever writes the configuration can make the daemon run hooks.
/// In a directory such as `/tmp`, somebody could put a link with this name to files that were meant for something else.
struct ConfigurationFolder {
    let path: String

    init(_ path: String) { self.path = path }

    /// Reads the files whose names end in `.toml`, in the order of their names' bytes. Without the directory there are
    /// none.
    func files() throws(ConfigurationError) -> [(path: String, text: [UInt8])] {
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw ConfigurationFile.unreadable(path, SystemError(call: "open"))
        }
        let owner = FileDescriptor(owning: directory)
        try checkParent()
        try check(directory, path)
        var files: [(path: String, text: [UInt8])] = []
        for name in try names() { files.append(try file(named: name, in: owner.rawValue)) }
        return files
    }

    private func checkParent() throws(ConfigurationError) {
        let parent = path.unicodeScalars.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        var status = stat()
        guard stat(parent, &status) == 0 else {
            throw ConfigurationFile.unreadable(parent, SystemError(call: "stat"))
        }
        if let problem = FileTrust.problem(status) {
            throw ConfigurationFile.failure(
                path, "the directory that contains it is not safe: \(problem)",
                expected: "a directory that only root, or the user who runs reachd, can put in its place")
        }
    }

    private func names() throws(ConfigurationError) -> [String] {
        do throws(SystemError) {
            return try DirectoryNames.read(path).filter { $0.hasUTF8Suffix(".toml") && !$0.hasUTF8Prefix(".") }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        } catch {
            throw ConfigurationFile.unreadable(path, error)
        }
    }

    private func file(
        named name: String, in directory: CInt
    ) throws(ConfigurationError) -> (path: String, text: [UInt8]) {
        let file = path + "/" + name
        // O_NONBLOCK, so that no FIFO makes the daemon wait.
        let descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ConfigurationFile.unreadable(file, SystemError(call: "open")) }
        let owner = FileDescriptor(owning: descriptor)
        try check(descriptor, file)
        do throws(SystemError) {
            return (file, try ConfigurationFile.contents(of: owner))
        } catch {
            throw ConfigurationFile.unreadable(file, error)
        }
    }

    private func check(_ descriptor: CInt, _ file: String) throws(ConfigurationError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw ConfigurationFile.unreadable(file, SystemError(call: "fstat"))
        }
        if let problem = FileTrust.problem(status) {
            throw ConfigurationFile.failure(
                file, problem, expected: "a file of root's, or of the user who runs reachd, that only they can change")
        }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        guard isFile || file == path else {
            throw ConfigurationFile.failure(file, "it is not a regular file", expected: "a configuration")
        }
    }
}

/// Whether the daemon may rely on a file that it finds by a name alone: a hook, or a part of its configuration.
enum FileTrust {
    /// Why not: only root and the daemon's own user may own it, and no one else may write to it.
    ///
    /// - Parameters:
    ///   - mode: The permissions, from stat(2).
    ///   - user: The daemon's own user.
    static func problem(owner: UInt32, mode: UInt32, user: UInt32) -> String? {
        if owner != 0, owner != user { return "it belongs to user \(owner)" }
        if mode & 0o022 != 0 { return "users other than its owner can write to it" }
        return nil
    }
}

extension FileTrust {
    fileprivate static func problem(_ status: stat) -> String? {
        problem(owner: status.st_uid, mode: UInt32(status.st_mode), user: geteuid())
    }
}
