internal import Glibc
internal import ReachControl
internal import ReachCore
internal import ReachLoop
internal import ReachRecords

// Which events go when there are too many bytes: the oldest of whoever has more than a share, so that one user's
// requests push out neither an outage of last week nor other users' requests. A gap stands for each run of them.
extension JournalStore {
    /// Rewrites older files without what is too much. The newest file stays as it is.
    mutating func thin() throws(SystemError) {
        var held = JournalShares()
        for segment in segments.dropLast() { held.add(try shares(of: segment)) }
        // One file more than the newest, so that it is some time until the next time.
        var excess = held.excess(over: options.bytes - 2 * options.segmentBytes)
        guard !excess.isEmpty else { return }
        let older = segments.dropLast()
        var kept: [JournalSegment] = []
        // The number of files that are done with.
        var done = 0
        // Where the disk fails, what is not replaced stays.
        defer { segments = kept + older[done...] + segments.suffix(1) }
        var draft: JournalDraft?
        for (index, segment) in older.enumerated() {
            let isTouched = excess.meets(try shares(of: segment))
            let joins = isTouched || draft != nil && segment.size < options.segmentBytes / 2
            if let present = draft, !joins || !present.hasRoom(for: segment, options.segmentBytes) {
                try replace(present, &kept)
                (draft, done) = (nil, index)
            }
            guard joins else {
                kept.append(segment)
                done = index + 1
                continue
            }
            var next = draft ?? JournalDraft(segment, isOldest: kept.isEmpty)
            draft = nil
            try next.append(segment, in: files, without: &excess)
            draft = next
        }
        if let draft { try replace(draft, &kept) }
        done = older.count
    }

    /// Whose events a file has. Read once, since only the newest file changes.
    private mutating func shares(of segment: JournalSegment) throws(SystemError) -> JournalShares {
        if let known = owners[segment.serial] { return known }
        var shares = JournalShares()
        var lines = try LineReader(files.path(of: segment.serial), segment, after: 0)
        while let bytes = try lines.next() {
            guard let line = JournalLine(bytes) else { continue }
            shares.add(Int64(bytes.count + 1), of: line.user)
        }
        owners[segment.serial] = shares
        return shares
    }

    /// Puts the file of a draft in place of those that it was made of.
    private mutating func replace(_ draft: JournalDraft, _ kept: inout [JournalSegment]) throws(SystemError) {
        var done = draft
        done.closeGap()
        let (serial, newest) = (done.serials[0], done.serials[done.serials.count - 1])
        let time = times[newest]
        try reach(.beforeDeletion)
        if done.lines.isEmpty {
            for serial in done.serials { forget(serial) }
            return
        }
        let temporary = files.directory + "/thinned"
        unlink(temporary)
        let file = try LineFile(temporary, O_CREAT | O_EXCL, mode: 0o600)
        do throws(SystemError) {
            try file.append(JournalSegment.header(log: done.log, first: done.first, inode: file.inode))
            var segment = JournalSegment(
                serial: serial, log: done.log, first: done.first, start: file.size, inode: file.inode)
            try file.append(done.lines)
            segment.size = file.size
            // Its age is that of its newest event.
            if let time { file.setModified(time.wall) }
            try file.sync()
            try file.rename(to: files.path(of: serial))
            hasNewNames = true
            // What a crash leaves of the others has numbers that readers have passed by then.
            _ = DiskSync.wait(for: files.directory)
            for other in done.serials.dropFirst() { forget(other) }
            owners[serial] = done.shares
            times[serial] = time
            kept.append(segment)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private mutating func forget(_ serial: Int) {
        unlink(files.path(of: serial))
        times[serial] = nil
        owners[serial] = nil
    }
}

/// The lines of a file that replaces some others.
private struct JournalDraft {
    let log: String
    private(set) var first: Int64
    private(set) var serials: [Int] = []
    private(set) var lines: [UInt8] = []
    private(set) var shares = JournalShares()
    /// Whether no file is before it: what it lacks at its beginning then has simply gone.
    private let isOldest: Bool
    private var gap: (numbers: ClosedRange<Int64>, last: JournalLine, user: UInt32?)?

    init(_ segment: JournalSegment, isOldest: Bool) {
        (log, first, self.isOldest) = (segment.log, segment.first, isOldest)
    }

    /// Whether another file's events may follow.
    func hasRoom(for segment: JournalSegment, _ limit: Int64) -> Bool {
        log == segment.log && Int64(lines.count) < limit / 2
    }

    /// Adds a file's events.
    ///
    /// - Parameter excess: What still goes.
    mutating func append(
        _ segment: JournalSegment, in files: JournalFiles, without excess: inout JournalShares
    ) throws(SystemError) {
        serials.append(segment.serial)
        var reader = try LineReader(files.path(of: segment.serial), segment, after: 0)
        while let bytes = try reader.next() {
            guard let line = JournalLine(bytes) else { continue }
            let (count, owner) = (Int64(bytes.count + 1), line.user)
            if let expired = line.expired {
                drop(expired.numbers, line, of: expired.user)
            } else if excess[owner] > 0 {
                excess.add(-count, of: owner)
                drop(line.number...line.number, line, of: owner)
            } else {
                closeGap()
                lines += bytes
                lines.append(UInt8(ascii: "\n"))
                shares.add(count, of: owner)
            }
        }
    }

    private mutating func drop(_ numbers: ClosedRange<Int64>, _ line: JournalLine, of user: UInt32?) {
        if let gap {
            // Damaged lines between them are missing, too.
            let all = min(gap.numbers.lowerBound, numbers.lowerBound)...max(gap.numbers.upperBound, numbers.upperBound)
            self.gap = (all, line, gap.user == user ? user : nil)
        } else {
            gap = (numbers, line, user)
        }
    }

    /// Writes the gap for what was dropped last, with the time of the last one of it.
    mutating func closeGap() {
        guard let gap else { return }
        self.gap = nil
        guard !isOldest || !lines.isEmpty else { return first = gap.numbers.upperBound + 1 }
        let record = (try? JSONReader.read(gap.last.event)).flatMap { try? JournalRecord(reading: $0) }
        let event = JournalGap(.expired, gap.numbers).event(
            at: record?.moment ?? SystemClock.now, boot: record?.boot ?? "", user: gap.user)
        let line = JournalLine.encode(event, log: log, number: gap.numbers.upperBound)
        lines += line
        shares.add(Int64(line.count), of: nil)
    }
}
