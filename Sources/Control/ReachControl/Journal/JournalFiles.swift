internal import Glibc
internal import ReachCore
package import ReachLoop

/// The files of a journal, in a directory of their own that only the daemon's user may enter. Each begins with a line that
/// says to which log its events belong and with which number they begin.
package struct JournalFiles: Hashable, Sendable {
    package let directory: String

    /// - Parameter stateDirectory: The daemon's state directory.
    package init(stateDirectory: String) { directory = stateDirectory + "/journal" }

    /// The file with the last known number, by which the daemon detects that the others were rolled back.
    package var head: String { directory + "/head.json" }

    package func path(of serial: Int) -> String { "\(directory)/\(Self.prefix)\(serial)\(Self.suffix)" }

    private static let prefix = "events."
    private static let suffix = ".jsonl"

    /// The numbers in the names of the files, in the order of the files.
    ///
    /// - Throws: If there is no journal, or its directory cannot be read.
    package func serials() throws(SystemError) -> [Int] {
        try DirectoryNames.read(directory).compactMap { name in
            guard name.hasUTF8Prefix(Self.prefix), name.hasUTF8Suffix(Self.suffix) else { return nil }
            let digits = name.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)
            guard let serial = Int(digits), serial > 0, String(serial) == digits else { return nil }
            return serial
        }.sorted()
    }

    /// The files with their present lengths, without a last line that is not finished. For readers in other processes.
    package func segments() throws(SystemError) -> [JournalSegment] {
        try serials().compactMap { serial in
            // The daemon may delete a file meanwhile.
            guard let file = try? JournalSegment.open(path(of: serial)) else { return nil }
            return JournalSegment(file.rawValue, serial: serial)
        }
    }
}

/// A file of the journal.
package struct JournalSegment: Hashable, Sendable {
    package let serial: Int
    package let log: String
    /// The number with which its events begin.
    package let first: Int64
    /// The offset of its first event.
    package let start: Int64
    /// The bytes of its whole lines.
    package var size: Int64
    /// The inode for which it was written. A copy has another one.
    package let inode: UInt64

    package init(serial: Int, log: String, first: Int64, start: Int64, inode: UInt64) {
        self.serial = serial
        self.log = log
        self.first = first
        self.start = start
        self.inode = inode
        size = start
    }

    /// Reads the first line of a file.
    ///
    /// - Returns: `nil` if that is not a journal's.
    package init?(_ file: CInt, serial: Int) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = pread(file, &bytes, bytes.count, 0)
        guard count > 0, let end = bytes[..<count].firstIndex(of: UInt8(ascii: "\n")),
            let document = ChecksummedLine.decode(bytes[..<end]), let json = try? JSONReader.read(document),
            json["v"]?.integer == 1, json["type"]?.string == "journal", let log = json["log"]?.string,
            let first = json["first"]?.integer, first > 0, let inode = json["inode"]?.integer
        else { return nil }
        self.init(serial: serial, log: log, first: first, start: Int64(end) + 1, inode: UInt64(bitPattern: inode))
        var status = stat()
        guard fstat(file, &status) == 0 else { return nil }
        size = Int64(status.st_size)
    }

    /// The first line of a file.
    package static func header(log: String, first: Int64, inode: UInt64) -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "journal")
            json.field("log", log)
            json.field("first", first)
            json.field("inode", Int64(bitPattern: inode))
        }
        return ChecksummedLine.encode(json.bytes)
    }

    static func open(_ path: String) throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try HistoryFiles.openRegularFile(path, O_RDONLY))
    }
}

/// What is known of the journal's end, in a small file that is replaced as a whole at the start and the end of a run.
package struct JournalHead: Hashable, Sendable {
    package var log: String
    /// The last number at that time.
    package var last: Int64
    /// The boot of the machine.
    package var boot: String
    /// Whether the run has ended, with everything on the disk.
    package var isClosed: Bool

    package init(log: String, last: Int64, boot: String, isClosed: Bool) {
        self.log = log
        self.last = last
        self.boot = boot
        self.isClosed = isClosed
    }

    package init?(_ bytes: [UInt8]) {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")), let document = ChecksummedLine.decode(bytes[..<end]),
            let json = try? JSONReader.read(document), let log = json["log"]?.string,
            let last = json["last"]?.integer, let boot = json["boot"]?.string, let isClosed = json["closed"]?.bool
        else { return nil }
        self.init(log: log, last: last, boot: boot, isClosed: isClosed)
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("log", log)
            json.field("last", last)
            json.field("boot", boot)
            json.field("closed", isClosed)
        }
        return ChecksummedLine.encode(json.bytes)
    }

    /// Whether files that end with this log and number are the ones that this head describes, or their continuation. After a
    /// loss of power they may lack events that readers have seen; only a run that was closed left everything on the disk.
    package func isContinued(by log: String, last: Int64, boot: String) -> Bool {
        guard log == self.log else { return false }
        if isClosed { return last == self.last }
        return boot == self.boot && last >= self.last
    }
}
