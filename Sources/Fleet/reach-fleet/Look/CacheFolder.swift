internal import Glibc
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop

/// Where a reader keeps what it read of one fleet, for its next reading.
///
/// The files are the user's own: what another could have written is not read.
struct CacheFolder {
    private let path: String
    /// The fleet: its servers, and who reads.
    private let name: String

    /// - Returns: `nil` for a user without a home, and where nobody in particular reads.
    init?(_ settings: NATSSettings) {
        guard let key = settings.identity.keyPair?.publicKey, let folder = Self.folder else { return nil }
        path = folder
        let fleet = settings.servers.map(\.description).sorted().joined(separator: " ") + " " + key
        name = SHA256.digits(of: SHA256.hash(Array(fleet.utf8)), bytes: 12)
    }

    private static var folder: String? {
        if let path = DaemonDirectory.handed(variable("CACHE_DIRECTORY")) { return path }
        if let base = variable("XDG_CACHE_HOME"), base.hasUTF8Prefix("/") { return base + "/reach-fleet" }
        guard let home = variable("HOME"), home.hasUTF8Prefix("/") else { return nil }
        return home + "/.cache/reach-fleet"
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// - Returns: `nil` if there is no such file, or it is not this user's alone.
    func read(_ what: String, limit: Int) -> [UInt8]? {
        guard isOwn else { return nil }
        let file = open(file(what), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Self.isPrivate(status),
            status.st_size <= limit
        else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let more = Glibc.read(file, buffer.baseAddress?.advanced(by: count), size - count)
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                count += more
            }
        }
        return bytes.count == size ? bytes : nil
    }

    /// Replaces a file. Without success the next reading begins from nothing, so nobody needs to know.
    func write(_ what: String, _ bytes: [UInt8]) {
        if let end = path.unicodeScalars.lastIndex(of: "/") { mkdir(String(path[..<end]), 0o700) }
        mkdir(path, 0o700)
        guard isOwn else { return }
        try? AtomicFile.replace(file(what), with: bytes, mode: 0o600, isSynced: false)
        removeForgotten()
    }

    func remove(_ what: String) { unlink(file(what)) }

    private func file(_ what: String) -> String { "\(path)/\(name).\(what)" }

    private var isOwn: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && Self.isPrivate(status)
    }

    private static func isPrivate(_ status: stat) -> Bool { status.st_uid == geteuid() && status.st_mode & 0o077 == 0 }

    /// Removes the files of fleets that nobody has read for long.
    private func removeForgotten() {
        guard let names = try? DirectoryNames.read(path) else { return }
        let oldest = SystemClock.now.wall.nanosecondsSince1970 / 1_000_000_000 - Self.keptSeconds
        for name in names {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_mtim.tv_sec < oldest
            else { continue }
            unlink("\(path)/\(name)")
        }
    }

    private static let keptSeconds: Int64 = 30 * 86_400
}
