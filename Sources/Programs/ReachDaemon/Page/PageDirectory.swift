internal import Glibc
internal import ReachCore
package import ReachLoop

/// The directory of the page. Confined to the page's thread, since it may block.
///
/// The daemon may be root. So it writes only where no other user can lead it elsewhere: every directory on the way
/// belongs to root or to the daemon's user, and only they write there; in a sticky directory, such as /tmp, only a
/// file's owner can replace it.
package struct PageDirectory {
    private let path: String

    package init(_ path: String) { self.path = path }

    package enum Failure: Error, CustomStringConvertible {
        case unsafe(path: String, reason: String)
        case failed(SystemError)

        package var description: String {
            switch self {
            case .unsafe(let path, let reason): "\(path): \(reason)"
            case .failed(let error): "\(error)"
            }
        }
    }

    /// Replaces the page as a whole. The directory is created, if its parent exists.
    package func write(_ page: [UInt8]) throws(Failure) {
        try check()
        do throws(SystemError) {
            try AtomicFile.replace(path + "/index.html", with: page, mode: 0o644, isPublic: true, isSynced: false)
        } catch {
            throw .failed(error)
        }
    }

    private func check() throws(Failure) {
        let ways = Self.ways(to: path)
        for (index, way) in ways.enumerated() {
            var status = stat()
            if lstat(way, &status) != 0 {
                guard errno == ENOENT, index == ways.count - 1 else { throw .failed(SystemError(call: "stat \(way)")) }
                guard mkdir(way, 0o755) == 0, chmod(way, 0o755) == 0, lstat(way, &status) == 0 else {
                    throw .failed(SystemError(call: "mkdir \(way)"))
                }
            }
            if status.st_mode & S_IFMT == S_IFLNK {
                // No one but its owner can change where a link in such a directory leads.
                guard status.st_uid == 0 || status.st_uid == geteuid() else {
                    throw .unsafe(path: way, reason: "it is a link of user \(status.st_uid)")
                }
                guard stat(way, &status) == 0 else { throw .failed(SystemError(call: "stat \(way)")) }
            }
            if let reason = Self.objection(mode: status.st_mode, owner: status.st_uid, user: geteuid()) {
                throw .unsafe(path: way, reason: reason)
            }
        }
    }

    /// The directories on the way, from the root of the file system: `/a`, `/a/b`.
    static func ways(to path: String) -> [String] {
        path.split(scalar: "/").reduce(into: []) { $0.append(($0.last ?? "") + "/" + $1) }
    }

    /// The problem with a directory on the way; `nil` if there is none.
    static func objection(mode: mode_t, owner: uid_t, user: uid_t) -> String? {
        guard mode & S_IFMT == S_IFDIR else { return "it is no directory" }
        guard owner == 0 || owner == user else { return "it belongs to user \(owner)" }
        guard mode & 0o022 == 0 || mode & S_ISVTX != 0 else { return "others can write there" }
        return nil
    }
}
