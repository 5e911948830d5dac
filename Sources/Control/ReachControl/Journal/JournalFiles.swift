internal import ReachCore
package import ReachLoop
internal import ReachRecords

/// The files of a journal, in a directory of their own that only the daemon's user may enter. Each begins with a line
/// that says to which log its events belong and with which number they begin.
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
            (try? JournalSegment.read(path(of: serial), serial: serial)) ?? nil
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
    package static func read(_ path: String, serial: Int) throws(SystemError) -> JournalSegment? {
        var lines = try LineReader(path, longestLine: 4096)
        guard let line = try lines.next(), let document = ChecksummedLine.decode(line),
            let json = try? JSONReader.read(document), json["v"]?.integer == 1, json["type"]?.string == "journal",
            let log = json["log"]?.string, let first = json["first"]?.integer, first > 0,
            let inode = json["inode"]?.integer
        else { return nil }
        var segment = JournalSegment(
            serial: serial, log: log, first: first, start: lines.offset, inode: UInt64(bitPattern: inode))
        segment.size = lines.end
        return segment
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

    /// Whether files that end with this log and number are the ones that this head describes, or their continuation.
    /// After a loss of power they may lack events that readers have seen; only a run that was closed left everything on
    /// the disk.
    package func isContinued(by log: String, last: Int64, boot: String) -> Bool {
        guard log == self.log else { return false }
        if isClosed { return last == self.last }
        return boot == self.boot && last >= self.last
    }
}

extension LineReader {
    private static let longestEventLine = JournalLine.longestEvent + 1024

    /// Reads the events of a file of the journal.
    ///
    /// - Parameter number: Only events with larger numbers are read, and few before them.
    package init(_ path: String, _ segment: JournalSegment, after number: Int64) throws(SystemError) {
        try self.init(path, from: segment.start, to: segment.size, longestLine: Self.longestEventLine)
        if number >= segment.first { move(to: search(after: number, from: segment.start)) }
    }

    /// Finds by bisection the offset of a line from which all lines that are wanted follow, with few before them.
    private func search(after number: Int64, from start: Int64) -> Int64 {
        var (low, high) = (start, end)
        while high - low > Int64(Self.piece) {
            let middle = low + (high - low) / 2
            guard let (line, found) = numberedLine(behind: middle, before: high) else {
                high = middle
                continue
            }
            if found <= number { low = line } else { high = middle }
        }
        return low
    }

    /// The first line behind an offset that shows a number.
    private func numberedLine(behind offset: Int64, before end: Int64) -> (offset: Int64, number: Int64)? {
        guard let bytes = try? bytes(at: offset, Self.longestEventLine) else { return nil }
        var place = bytes.startIndex
        while let newline = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) {
            place = newline + 1
            let line = offset + Int64(place)
            guard line < end else { return nil }
            if let head = JournalLine.head(of: bytes[place...]) { return (line, head.number) }
        }
        return nil
    }
}
