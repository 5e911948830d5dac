internal import Glibc
internal import ReachCore
package import ReachLoop

/// What the archive of a probe has: its rows of each level, oldest first.
package struct ProbeArchive: Hashable, Sendable {
    package let probe: String
    /// The target at the latest change of it.
    package let target: String
    package private(set) var rows: [ArchiveLevel: [ArchiveRow]] = [:]

    package init(probe: String, target: String, _ rows: [ArchiveRow]) {
        (self.probe, self.target) = (probe, target)
        for level in ArchiveLevel.allCases {
            self.rows[level] = rows.filter { $0.level == level }.sorted { $0.slot < $1.slot }
        }
    }
}

/// The file with a probe's results of years: `archive/NAME.rows` in the directory of the history, a MiB with room for
/// all rows, most of which the disk does not use until they are written.
///
/// Each row has its place by its time, and replaces what was there; nothing else says where the newest one is. So a
/// kill between two rows leaves both as they are, and one that a loss of power has torn is none.
package struct ProbeArchiveFile: Sendable {
    private let directory: String
    private let probe: String
    private var path: String { directory + "/" + probe + Self.suffix }

    private static let folder = "/archive"
    private static let suffix = ".rows"
    private static let headSize = 4096
    /// What the head begins with.
    private static let mark = Array(#"{"v":1,"type":"probe-archive","#.utf8)
    private static var size: Int {
        headSize + ArchiveLevel.allCases.reduce(0) { $0 + $1.capacity } * ArchiveRow.size
    }

    /// - Parameter directory: That of the history.
    package init(directory: String, probe: String) {
        self.directory = directory + Self.folder
        self.probe = probe
    }

    /// The probes that have an archive, in the order of their names.
    package static func probes(in directory: String) -> [String] {
        let names = (try? DirectoryNames.read(directory + folder)) ?? []
        return names.compactMap { $0.before(suffix).map(String.init) }.filter { !$0.isEmpty }.sorted()
    }

    // MARK: - Writing

    /// Adds to what is written of the same times. Blocks on the disk.
    package func add(_ rows: [ArchiveRow], target: String) throws(SystemError) {
        guard !rows.isEmpty else { return }
        let head = Self.head(of: probe, target)
        let file = try opened(head)
        if Self.bytes(of: file.rawValue, at: 0, Self.headSize) != head {
            try Self.write(head, to: file.rawValue, at: 0)
        }
        for row in rows {
            let place = Self.offset(of: row.level) + row.level.place(of: row.slot) * ArchiveRow.size
            let written = ArchiveRow(Self.bytes(of: file.rawValue, at: place, ArchiveRow.size)[...], row.level)
            let sum = written?.slot == row.slot ? written?.adding(row) ?? row : row
            try Self.write(sum.bytes, to: file.rawValue, at: place)
        }
    }

    /// The file, which is made where there is none, and where something else is in its place.
    private func opened(_ head: [UInt8]) throws(SystemError) -> FileDescriptor {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor >= 0 {
            let file = FileDescriptor(owning: descriptor)
            if Self.isArchive(file.rawValue) { return file }
            guard rename(path, path + ".damaged") == 0 else { throw SystemError(call: "rename \(path)") }
        } else if errno != ENOENT {
            throw SystemError(call: "open \(path)")
        }
        return try made(head)
    }

    private func made(_ head: [UInt8]) throws(SystemError) -> FileDescriptor {
        if mkdir(directory, 0o755) != 0, errno != EEXIST { throw SystemError(call: "mkdir \(directory)") }
        let temporary = path + ".new"
        unlink(temporary)
        let file = FileDescriptor(
            owning: try SystemError.check("open \(temporary)") {
                open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            })
        do throws(SystemError) {
            try Self.write(head, to: file.rawValue, at: 0)
            guard ftruncate(file.rawValue, off_t(Self.size)) == 0 else { throw SystemError(call: "ftruncate") }
            guard rename(temporary, path) == 0 else { throw SystemError(call: "rename \(temporary)") }
        } catch {
            unlink(temporary)
            throw error
        }
        return file
    }

    private static func head(of probe: String, _ target: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { json in
            json.field("v", 1)
            json.field("type", "probe-archive")
            json.field("probe", probe as String?)
            json.field("target", DisplayText.excerpt(target, upTo: 2048) as String?)
        }
        writer.newline()
        let text = writer.bytes.prefix(headSize)
        return text + [UInt8](repeating: 0, count: headSize - text.count)
    }

    private static func write(_ bytes: [UInt8], to file: CInt, at place: Int) throws(SystemError) {
        let count = bytes.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, off_t(place)) }
        guard count == bytes.count else { throw SystemError(call: "pwrite", number: count < 0 ? errno : ENOSPC) }
    }

    // MARK: - Reading

    /// Blocks on the disk.
    ///
    /// - Returns: `nil` if there is none that can be read.
    package func read() -> ProbeArchive? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        let file = FileDescriptor(owning: descriptor)
        guard Self.isArchive(file.rawValue) else { return nil }
        let bytes = Self.bytes(of: file.rawValue, at: 0, Self.size)
        guard bytes.count == Self.size else { return nil }
        var rows: [ArchiveRow] = []
        for level in ArchiveLevel.allCases {
            for place in 0..<level.capacity {
                let start = Self.offset(of: level) + place * ArchiveRow.size
                // Most are not written yet.
                guard bytes[start..<start + 4].contains(where: { $0 != 0 }) else { continue }
                if let row = ArchiveRow(bytes[start..<start + ArchiveRow.size], level),
                    level.place(of: row.slot) == place
                {
                    rows.append(row)
                }
            }
        }
        let head = try? JSONReader.read(Array(bytes[..<Self.headSize].prefix { $0 != 0 }))
        return ProbeArchive(probe: probe, target: head?["target"]?.string ?? "", rows)
    }

    private static func isArchive(_ file: CInt) -> Bool {
        var status = stat()
        return fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_size == off_t(size)
            && bytes(of: file, at: 0, mark.count) == mark
    }

    private static func offset(of level: ArchiveLevel) -> Int {
        headSize
            + ArchiveLevel.allCases.filter { $0.rawValue < level.rawValue }.reduce(0) { $0 + $1.capacity }
            * ArchiveRow.size
    }

    /// The bytes at a place; fewer at the end of the file.
    private static func bytes(of file: CInt, at place: Int, _ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let more = pread(file, rest.baseAddress, count - filled, off_t(place + filled))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                filled += more
            }
        }
    }
}
