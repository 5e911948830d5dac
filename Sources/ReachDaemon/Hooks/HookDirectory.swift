internal import Glibc
internal import ReachLoop

/// A directory of hooks, as it is at the moment of asking.
package struct HookDirectory: Hashable, Sendable {
    package struct Listing: Hashable, Sendable {
        /// File names, in order.
        package var hooks: [String] = []
        /// What is there and must not be run: its path, and why.
        package var refused: [String: String] = [:]

        package init() {}
    }

    package let path: String

    package init(_ path: String) { self.path = path }

    /// A directory that is not there has no hooks, which is no mistake.
    package func list() -> Listing {
        var listing = Listing()
        guard let directory = opendir(path) else {
            if errno != ENOENT { listing.refused[path] = SystemError.text(errno) }
            return listing
        }
        defer { closedir(directory) }
        var status = stat()
        fstat(dirfd(directory), &status)
        if let problem = HookCheck.directory(HookCheck.Facts(status), user: geteuid()) {
            listing.refused[path] = problem
            return listing
        }
        while let entry = readdir(directory) {
            let name = Self.name(of: entry)
            guard fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            switch HookCheck.file(named: name, HookCheck.Facts(status), user: geteuid()) {
            case .run: listing.hooks.append(name)
            case .ignore: break
            case .refuse(let problem): listing.refused[path + "/" + name] = problem
            }
        }
        listing.hooks.sort()
        return listing
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String {
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                String(cString: $0)
            }
        }
    }
}

extension HookCheck.Facts {
    fileprivate init(_ status: stat) {
        self.init(
            isRegular: status.st_mode & S_IFMT == S_IFREG, owner: status.st_uid, mode: UInt32(status.st_mode & 0o7777))
    }
}
