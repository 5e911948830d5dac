internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachLoop

/// A directory of hooks, which is read at each use.
package struct HookDirectory: Hashable, Sendable {
    package struct Listing: Hashable, Sendable {
        /// The hooks' file names, sorted.
        package var hooks: [String] = []
        /// The paths of files that must not run, with the reasons.
        package var refused: [String: String] = [:]
    }

    package let path: String
    /// The only file that counts; `nil` for all.
    private let only: String?

    package init(_ path: String) { (self.path, only) = (path, nil) }

    /// A program that was named by itself, which has to be there.
    package init(program: String) {
        let parts = program.split(scalar: "/")
        path = "/" + parts.dropLast().joined(separator: "/")
        only = parts.last.map(String.init) ?? ""
    }

    /// Whether there is certainly no such directory, and need not be one. It never waits for a disk; where it would
    /// have to, the answer is no.
    var isKnownMissing: Bool { only == nil && reach_is_known_missing(path) != 0 }

    /// Lists the hooks. A missing directory has none, which is not an error.
    package func list() -> Listing {
        var listing = readNames()
        if let only, listing.hooks.isEmpty, listing.refused.isEmpty {
            listing.refused[path + "/" + only] = "there is no such executable file"
        }
        return listing
    }

    private func readNames() -> Listing {
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
            guard only.map({ $0 == name }) ?? true,
                fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0
            else { continue }
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
