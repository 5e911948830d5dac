internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop

/// The journal's files, open for appending. Confined to the journal's thread, since it waits for the disk.
///
/// Numbers are given once. Files that may have been rolled back begin a new log: those that are copies, that end before the
/// number that the head names, or that a loss of power may have shortened.
struct JournalStore: ~Copyable {
    /// A step of the store's work, at which tests end it.
    enum Point: Hashable, Sendable, CaseIterable {
        case beforeHead, afterHead, beforeSegment, inSegment, afterSegment, beforeLines, afterLines, beforeDeletion
    }

    struct Options: Hashable, Sendable {
        /// The bytes of all files.
        var bytes: Int64 = 16 << 20
        /// How old the newest event of a file is when the file is deleted.
        var age: Duration = .seconds(30 * 86_400)

        /// The bytes after which a file is full: when the oldest is deleted, an eighth of the events go.
        var segmentBytes: Int64 { min(4 << 20, max(64 << 10, bytes / 8)) }
    }

    let files: JournalFiles
    private let options: Options
    private let boot: String
    private let reach: (Point) throws(SystemError) -> Void
    private(set) var segments: [JournalSegment] = []
    /// The times of the newest event of each file, on both clocks; the boot time only of this boot.
    private var times: [Int: (wall: Timestamp, boot: BootTime?)] = [:]
    private(set) var last: Int64 = 0
    /// The time of the last event of the run before, if that recorded no end.
    private(set) var lastSeen: Timestamp?
    private var file: FileDescriptor
    /// Whether files were made whose names are perhaps not on the disk.
    private var hasNewNames = false

    var log: String { segments.last?.log ?? "" }
    var bytes: Int64 { segments.reduce(0) { $0 + $1.size } }

    /// - Parameter reach: Called at each step; what it throws ends the step there.
    init(
        _ files: JournalFiles, _ options: Options, boot: String,
        at reach: @escaping (Point) throws(SystemError) -> Void = { (_) throws(SystemError) in }
    ) throws(SystemError) {
        self.files = files
        self.options = options
        self.boot = boot
        self.reach = reach
        file = FileDescriptor(owning: -1)
        if mkdir(files.directory, 0o700) != 0, errno != EEXIST { throw SystemError(call: "mkdir \(files.directory)") }
        guard chmod(files.directory, 0o700) == 0 else { throw SystemError(call: "chmod \(files.directory)") }
        let isWhole = try readSegments()
        let head = SmallFile.text(files.head, limit: 4096).flatMap { JournalHead(Array($0.utf8)) }
        if !isWhole || head?.isContinued(by: log, last: last, boot: boot) != true { try beginLog() }
        try writeHead(isClosed: false)
    }

    // MARK: Opening

    /// Reads what is there, and cuts off a last line that was not finished.
    ///
    /// - Returns: Whether the last file is the one that was written, and ends where a write could end.
    private mutating func readSegments() throws(SystemError) -> Bool {
        var isWhole = true
        for serial in try files.serials() {
            let path = files.path(of: serial)
            let file = FileDescriptor(owning: try HistoryFiles.openRegularFile(path, O_RDWR | O_APPEND, mode: 0o600))
            var status = stat()
            guard fstat(file.rawValue, &status) == 0 else { throw SystemError(call: "stat \(path)") }
            guard let segment = JournalSegment(file.rawValue, serial: serial) else {
                // Nothing in it can be numbered. One that was just being made is short.
                isWhole = isWhole && status.st_size < 4096
                unlink(path)
                continue
            }
            isWhole = segment.inode == UInt64(status.st_ino)
            segments.append(segment)
            let time = Timestamp(secondsSince1970: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
            times[serial] = (time, nil)
            self.file = file
        }
        guard var newest = segments.popLast() else { return false }
        let end = try readEnd(of: newest)
        isWhole = isWhole && (end.isTorn || end.offset == newest.size)
        if end.offset < newest.size {
            guard ftruncate(file.rawValue, off_t(end.offset)) == 0 else { throw SystemError(call: "ftruncate") }
        }
        newest.size = end.offset
        segments.append(newest)
        return isWhole
    }

    /// Reads the events of the last file.
    ///
    /// - Returns: Where the last one ends whose number follows, and whether only an unfinished line is behind it.
    private mutating func readEnd(of segment: JournalSegment) throws(SystemError) -> (offset: Int64, isTorn: Bool) {
        var lines = try JournalLines(files.path(of: segment.serial), segment, after: 0)
        last = segment.first - 1
        // Without a newline behind it a line was never reported to anyone.
        var (end, isTorn) = (lines.offset, true)
        var newest: JournalLine?
        while let bytes = try lines.next() {
            guard let line = JournalLine(bytes), line.log == segment.log,
                (line.gap?.lowerBound ?? line.number) == last + 1
            else {
                isTorn = false
                break
            }
            last = line.number
            end = lines.offset
            newest = line
        }
        if let newest, !isTorn || newest.type != "stopped", let json = try? JSONReader.read(newest.event) {
            lastSeen = json["time"]?.string.flatMap { Timestamp($0) }
        }
        return (end, isTorn)
    }

    // MARK: Logs

    /// Begins a new log, because a reader has seen numbers that this one does not have, or may have.
    mutating func beginLog() throws(SystemError) {
        let bytes = (0..<JournalLine.logDigits / 2).map { _ in UInt8.random(in: 0 ... .max) }
        let log = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        try beginSegment(log: log, first: 1)
        last = 0
    }

    private mutating func beginSegment(log: String, first: Int64) throws(SystemError) {
        try reach(.beforeSegment)
        // Its events are on the disk before the next file says that they came before.
        if file.rawValue >= 0 { fdatasync(file.rawValue) }
        let serial = (segments.last?.serial ?? 0) + 1
        let path = files.path(of: serial)
        unlink(path)
        let fresh = FileDescriptor(
            owning: try HistoryFiles.openRegularFile(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND, mode: 0o600))
        try reach(.inSegment)
        var status = stat()
        guard fstat(fresh.rawValue, &status) == 0 else { throw SystemError(call: "stat \(path)") }
        let header = JournalSegment.header(log: log, first: first, inode: UInt64(status.st_ino))
        do throws(SystemError) {
            try FileDescriptor.write(header, to: fresh.rawValue)
        } catch {
            unlink(path)
            throw error
        }
        hasNewNames = true
        file = fresh
        // A file without events says nothing. It stays until there is another, since something must take the next event.
        if let newest = segments.last, newest.size == newest.start, newest.log != log {
            unlink(files.path(of: newest.serial))
            times[newest.serial] = nil
            segments.removeLast()
        }
        segments.append(
            JournalSegment(
                serial: serial, log: log, first: first, start: Int64(header.count), inode: UInt64(status.st_ino)))
        times[serial] = (SystemClock.now.wall, SystemClock.now.boot)
        try reach(.afterSegment)
    }

    private func writeHead(isClosed: Bool) throws(SystemError) {
        try reach(.beforeHead)
        let head = JournalHead(log: log, last: last, boot: boot, isClosed: isClosed)
        try AtomicFile.replace(files.head, with: head.bytes)
        try reach(.afterHead)
    }

    // MARK: Writing

    /// Appends complete lines: all of them, or none.
    ///
    /// - Parameter last: The number of the last one.
    mutating func append(_ lines: [UInt8], last: Int64) throws(SystemError) {
        if let newest = segments.last, newest.size > newest.start,
            newest.size + Int64(lines.count) > options.segmentBytes
        {
            try beginSegment(log: newest.log, first: self.last + 1)
        }
        try reach(.beforeLines)
        let newest = segments.count - 1
        do throws(SystemError) {
            try FileDescriptor.write(lines, to: file.rawValue)
        } catch {
            // A part of a line would spoil the next one, too.
            ftruncate(file.rawValue, off_t(segments[newest].size))
            throw SystemError(call: "write \(files.path(of: segments[newest].serial))", number: error.number)
        }
        segments[newest].size += Int64(lines.count)
        self.last = last
        let now = SystemClock.now
        times[segments[newest].serial] = (now.wall, now.boot)
        try reach(.afterLines)
        try deleteOld(at: now)
    }

    /// Deletes the oldest files while there are too many bytes, and those whose events are all too old.
    private mutating func deleteOld(at now: Instant) throws(SystemError) {
        var bytes = bytes
        while segments.count > 1, bytes > options.bytes || isOld(segments[0].serial, at: now) {
            try reach(.beforeDeletion)
            unlink(files.path(of: segments[0].serial))
            bytes -= segments[0].size
            times[segments[0].serial] = nil
            segments.removeFirst()
        }
    }

    /// Within one boot the boot clock counts, since the wall clock may be set by years.
    private func isOld(_ serial: Int, at now: Instant) -> Bool {
        guard let time = times[serial] else { return false }
        if let boot = time.boot { return now.boot - boot > options.age }
        return now.wall.nanosecondsSince1970 - time.wall.nanosecondsSince1970 > options.age.nanoseconds
    }

    /// Waits until everything is on the disk.
    mutating func sync() throws(SystemError) {
        guard fdatasync(file.rawValue) == 0 else { throw SystemError(call: "fdatasync") }
        guard hasNewNames else { return }
        let error = DiskSync.wait(for: files.directory)
        guard error == 0 else { throw SystemError(call: "fsync \(files.directory)", number: error) }
        hasNewNames = false
    }

    /// Ends the run: the next one continues the log.
    mutating func close() throws(SystemError) {
        try sync()
        try writeHead(isClosed: true)
    }

    // MARK: Reading

    func read(_ query: JournalQuery, of user: UInt32?) throws(SystemError) -> JournalSlice {
        try JournalReader(query, of: user, files, segments, last: last, at: SystemClock.now, boot: boot).read()
    }

    /// The numbers of those rows of the outbox whose events are in the files.
    func recorded(_ rows: [Int64: [UInt8]]) throws(SystemError) -> Set<Int64> {
        var found: Set<Int64> = []
        guard let oldest = rows.keys.min() else { return found }
        for segment in segments.reversed() {
            var lines = try JournalLines(files.path(of: segment.serial), segment, after: 0)
            var hasEarlier = false
            while let bytes = try lines.next() {
                guard let line = JournalLine(bytes), let row = line.outbox else { continue }
                hasEarlier = hasEarlier || row < oldest
                // After a loss of power the outbox may give a number to another event.
                if let event = rows[row], event == line.bare { found.insert(row) }
            }
            // Lines are written in the order of their rows: older files have none of these.
            if hasEarlier || found.count == rows.count { break }
        }
        return found
    }
}
