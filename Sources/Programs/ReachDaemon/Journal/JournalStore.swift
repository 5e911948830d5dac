internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

/// The journal's files, open for appending. Confined to the journal's thread, since it waits for the disk.
///
/// A number is never given to two events. If the files may be older than what readers have seen, a new log begins: if
/// they are copies, if they end before the number in the head file, or if a loss of power may have shortened them.
struct JournalStore: ~Copyable {
    /// A step of the store's work. Tests simulate a crash at each one.
    enum Point: Hashable, Sendable, CaseIterable {
        case beforeHead, afterHead, beforeSegment, inSegment, afterSegment, beforeLines, afterLines, beforeDeletion
    }

    struct Options: Hashable, Sendable {
        /// The most bytes of all files together.
        var bytes: Int64 = 16 << 20
        /// The age of a file's newest event at which the file is deleted.
        var age: Duration = .seconds(30 * 86_400)

        /// The size in bytes at which a file is full: an eighth of ``bytes``, but from 64 KiB to 4 MiB. Events are
        /// deleted by whole files, the oldest first.
        var segmentBytes: Int64 { min(4 << 20, max(64 << 10, bytes / 8)) }
    }

    let files: JournalFiles
    var options: Options
    private let boot: String
    let reach: (Point) throws(SystemError) -> Void
    var segments: [JournalSegment] = []
    /// The time of the newest event of each file, by file number. The boot clock's time is `nil` for events of an
    /// earlier boot.
    var times: [Int: (wall: Timestamp, boot: BootTime?)] = [:]
    /// Whose events the older files have, by file number, as far as that was asked.
    var owners: [Int: JournalShares] = [:]
    private(set) var last: Int64 = 0
    /// The time of the last event of the previous run, if that run recorded no `stopped`.
    private(set) var lastSeen: Timestamp?
    private var file: LineFile?
    /// Whether the directory must be synced, because it has new files.
    var hasNewNames = false
    /// Whether the disk may have lost what was written: the kernel reports that once, and takes the lost pages for good
    /// ones then.
    private(set) var mayHaveLostWrites = false
    /// Why older files could not be rewritten at last, until it is taken.
    private var thinningError: SystemError?

    var log: String { segments.last?.log ?? "" }
    var bytes: Int64 { segments.reduce(0) { $0 + $1.size } }

    /// - Parameter reach: Called at each step. If it throws, the work ends at this step with that error.
    init(
        _ files: JournalFiles, _ options: Options, boot: String,
        at reach: @escaping (Point) throws(SystemError) -> Void = { (_) throws(SystemError) in }
    ) throws(SystemError) {
        self.files = files
        self.options = options
        self.boot = boot
        self.reach = reach
        if mkdir(files.directory, 0o700) != 0, errno != EEXIST { throw SystemError(call: "mkdir \(files.directory)") }
        guard chmod(files.directory, 0o700) == 0 else { throw SystemError(call: "chmod \(files.directory)") }
        let isWhole = try readSegments()
        let head = SmallFile.text(files.head, limit: 4096).flatMap { JournalHead(Array($0.utf8)) }
        if !isWhole || head?.isContinued(by: log, last: last, boot: boot) != true { try beginLog() }
        try writeHead(isClosed: false)
    }

    // MARK: Opening

    /// Reads the existing files, and removes an incomplete last line.
    ///
    /// - Returns: Whether the log can continue: the last file is no copy, and is not damaged before its end.
    private mutating func readSegments() throws(SystemError) -> Bool {
        var isWhole = true
        for serial in try files.serials() {
            let path = files.path(of: serial)
            let file = try LineFile(path, 0)
            guard let segment = try JournalSegment.read(path, serial: serial) else {
                // Without a header, the numbers of its events are unknown. A crash while the file is created leaves a
                // short one, which is no damage.
                isWhole = isWhole && file.size < 4096
                unlink(path)
                continue
            }
            isWhole = segment.inode == file.inode
            segments.append(segment)
            times[serial] = (file.modified, nil)
            self.file = file
        }
        guard var newest = segments.popLast() else { return false }
        let end = try readEnd(of: newest)
        isWhole = isWhole && (end.isTorn || end.offset == newest.size)
        if end.offset < newest.size { try file?.cut(to: end.offset) }
        newest.size = end.offset
        segments.append(newest)
        return isWhole
    }

    /// Reads the events of the last file.
    ///
    /// - Returns: The end of the last event with the expected number, and whether nothing but an unfinished line
    ///   follows.
    private mutating func readEnd(of segment: JournalSegment) throws(SystemError) -> (offset: Int64, isTorn: Bool) {
        var lines = try LineReader(files.path(of: segment.serial), segment, after: 0)
        last = segment.first - 1
        // No reader has seen a line without its newline.
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

    /// Begins a new log, because readers may have seen events that are no longer in the files.
    mutating func beginLog() throws(SystemError) {
        let bytes = (0..<JournalLine.logDigits / 2).map { _ in UInt8.random(in: 0 ... .max) }
        let log = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        try beginSegment(log: log, first: 1)
        last = 0
    }

    private mutating func beginSegment(log: String, first: Int64) throws(SystemError) {
        try reach(.beforeSegment)
        // The new file's header implies the events of the file before, so these must be on the disk first.
        try syncFile()
        let serial = (segments.last?.serial ?? 0) + 1
        let path = files.path(of: serial)
        unlink(path)
        let created = try LineFile(path, O_CREAT | O_EXCL, mode: 0o600)
        try reach(.inSegment)
        do throws(SystemError) {
            try created.append(JournalSegment.header(log: log, first: first, inode: created.inode))
        } catch {
            unlink(path)
            throw error
        }
        hasNewNames = true
        file = created
        // The last file of an ended log is useless if it has no events. It goes only now, since something must take the
        // next event.
        if let newest = segments.last, newest.size == newest.start, newest.log != log {
            unlink(files.path(of: newest.serial))
            times[newest.serial] = nil
            segments.removeLast()
        }
        segments.append(
            JournalSegment(serial: serial, log: log, first: first, start: created.size, inode: created.inode))
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
        try file?.append(lines)
        segments[newest].size += Int64(lines.count)
        self.last = last
        let now = SystemClock.now
        times[segments[newest].serial] = (now.wall, now.boot)
        try reach(.afterLines)
        try deleteOld(at: now)
    }

    /// Deletes events until the limits on bytes and age are met. The newest file always stays. Where the disk refuses
    /// to have older ones rewritten, the oldest go as a whole.
    private mutating func deleteOld(at now: Instant) throws(SystemError) {
        if bytes > options.bytes {
            do throws(SystemError) {
                try thin()
            } catch {
                thinningError = error
            }
        }
        var bytes = bytes
        while segments.count > 1, bytes > options.bytes || isOld(segments[0].serial, at: now) {
            try reach(.beforeDeletion)
            unlink(files.path(of: segments[0].serial))
            bytes -= segments[0].size
            times[segments[0].serial] = nil
            owners[segments[0].serial] = nil
            segments.removeFirst()
        }
    }

    /// Why the oldest events went whoever they are of, if that was since the last call.
    mutating func takeThinningError() -> SystemError? {
        defer { thinningError = nil }
        return thinningError
    }

    /// Compares ages by the boot clock if it can, since the wall clock may jump by years when it is set.
    private func isOld(_ serial: Int, at now: Instant) -> Bool {
        guard let time = times[serial] else { return false }
        if let boot = time.boot { return now.boot - boot > options.age }
        return now.wall.nanosecondsSince1970 - time.wall.nanosecondsSince1970 > options.age.nanoseconds
    }

    /// Waits until everything is on the disk.
    mutating func sync() throws(SystemError) {
        try syncFile()
        guard hasNewNames else { return }
        let error = DiskSync.wait(for: files.directory)
        guard error == 0 else { throw SystemError(call: "fsync \(files.directory)", number: error) }
        hasNewNames = false
    }

    private mutating func syncFile() throws(SystemError) {
        do throws(SystemError) {
            try file?.sync()
        } catch {
            mayHaveLostWrites = true
            throw error
        }
    }

    /// Closes the journal in order, so that the next run can continue the log.
    mutating func close() throws(SystemError) {
        try sync()
        try writeHead(isClosed: true)
    }

    // MARK: Reading

    func read(_ query: JournalQuery, of user: UInt32?) throws(SystemError) -> JournalSlice {
        try JournalReader(query, of: user, files, segments, last: last, at: SystemClock.now, boot: boot).read()
    }

    /// Returns which rows of the outbox have their events in the files already.
    ///
    /// - Parameter rows: The events of the rows, by their numbers.
    func recorded(_ rows: [Int64: [UInt8]]) throws(SystemError) -> Set<Int64> {
        var found: Set<Int64> = []
        guard let oldest = rows.keys.min() else { return found }
        for segment in segments.reversed() {
            var lines = try LineReader(files.path(of: segment.serial), segment, after: 0)
            var hasEarlier = false
            while let bytes = try lines.next() {
                guard let line = JournalLine(bytes), let row = line.outbox else { continue }
                hasEarlier = hasEarlier || row < oldest
                // After a loss of power the outbox may have given the same number to another event.
                if let event = rows[row], event == line.bare { found.insert(row) }
            }
            // Lines are written in the order of their rows: older files have none of these.
            if hasEarlier || found.count == rows.count { break }
        }
        return found
    }
}
