internal import Glibc
package import ReachCore
package import ReachLoop
internal import ReachRecords

/// Events of the journal as bytes, and the cursor behind them: what ``JournalPage`` is on the wire.
package struct JournalSlice: Hashable, Sendable {
    package var events: [[UInt8]] = []
    package var log: String
    package var next: Int64
    package var current: String
    package var last: Int64
    package var isComplete = false

    /// Writes the members of an answer.
    package func write(to json: inout JSONWriter) {
        json.field("events", array: { for event in events { $0.value(written: event) } })
        json.field("log", log)
        json.field("next", next)
        json.field("current", current)
        json.field("last", last)
        json.field("complete", isComplete)
    }
}

/// Reads events of the journal's files from a cursor on, and says what is missing.
package struct JournalReader {
    private let files: JournalFiles
    private let segments: [JournalSegment]
    /// The user whose events of requests are read; `nil` for everybody's.
    private let user: UInt32?
    private let query: JournalQuery
    /// The time and the boot that a gap gets.
    private let moment: Instant
    private let boot: String
    private var slice: JournalSlice
    /// Bytes of lines that were read and bytes of events that are wanted.
    private var bytesRead = 0
    private var bytesWanted = 0

    /// The bytes that one call reads at most, in about a millisecond.
    private static let portion = 256 << 10

    /// - Parameters:
    ///   - segments: At least one file.
    ///   - last: The number of the newest event of the last file's log.
    package init(
        _ query: JournalQuery, of user: UInt32?, _ files: JournalFiles, _ segments: [JournalSegment], last: Int64,
        at moment: Instant, boot: String
    ) {
        self.files = files
        self.segments = segments
        self.user = user
        self.query = query
        self.moment = moment
        self.boot = boot
        let current = segments.last?.log ?? ""
        slice = JournalSlice(log: query.log ?? current, next: query.after ?? 0, current: current, last: last)
    }

    /// Reads a page, or a part of one: it may hold nothing and yet not be complete. Blocks on the disk.
    package consuming func read() throws(SystemError) -> JournalSlice {
        var isAtEnd = false
        var index = begin()
        while let present = index, hasRoom, try readLines(of: segments[present]) {
            isAtEnd = present + 1 == segments.count
            guard !isAtEnd, hasRoom else { break }
            enter(segments[present + 1])
            index = present + 1
        }
        slice.isComplete = index == nil || isAtEnd || slice.log == slice.current && slice.next >= slice.last
        return slice
    }

    private var hasRoom: Bool {
        slice.events.count < min(query.limit, JournalQuery.longestPage) && bytesWanted < JournalQuery.pageBytes
            && bytesRead < Self.portion
    }

    /// Finds the file with which to begin, and sets the cursor to a number before its events.
    ///
    /// - Returns: `nil` without files.
    private mutating func begin() -> Int? {
        guard let oldest = segments.first else { return nil }
        let sameLog = segments.indices.filter { segments[$0].log == slice.log }
        guard let firstKnown = sameLog.first else {
            // Nothing shows how much lies between the cursor and what is here.
            jump(to: oldest)
            return 0
        }
        guard let after = query.after else {
            let first = query.log == nil ? 0 : firstKnown
            slice.log = segments[first].log
            slice.next = segments[first].first - 1
            return first
        }
        guard slice.log != slice.current || after <= slice.last else {
            // A number from a future that this log no longer has.
            slice.next = slice.last
            append(JournalGap(.log))
            return segments.count - 1
        }
        guard let index = sameLog.last(where: { segments[$0].first - 1 <= after }) else {
            skip(.expired, to: segments[firstKnown].first - 1)
            return firstKnown
        }
        return index
    }

    /// Continues with the next file.
    private mutating func enter(_ segment: JournalSegment) {
        if segment.log != slice.log {
            jump(to: segment)
        } else if segment.first - 1 > slice.next {
            skip(.damaged, to: segment.first - 1)
        }
    }

    private mutating func jump(to segment: JournalSegment) {
        slice.log = segment.log
        slice.next = segment.first - 1
        // A log that lost its beginning since says so itself.
        append(JournalGap(.log))
    }

    private mutating func skip(_ reason: JournalGap.Reason, to number: Int64) {
        guard number > slice.next else { return }
        let missing = slice.next + 1...number
        slice.next = number
        append(JournalGap(reason, missing))
    }

    private mutating func append(_ gap: JournalGap) {
        let event = gap.event(at: moment, boot: boot)
        slice.events.append(JournalLine.event(event, log: slice.log, number: slice.next))
        bytesWanted += event.count
    }

    /// - Returns: Whether the file is read to its end.
    private mutating func readLines(of segment: JournalSegment) throws(SystemError) -> Bool {
        var lines: LineReader
        do throws(SystemError) {
            lines = try LineReader(files.path(of: segment.serial), segment, after: slice.next)
        } catch  where error.number == ENOENT {
            // The daemon has deleted it since: the next one begins with a gap.
            return true
        }
        while hasRoom {
            guard let line = try lines.next() else { return true }
            bytesRead += line.count + 1
            // Lines before the cursor are not decoded.
            if let head = JournalLine.head(of: line), head.number <= slice.next { continue }
            // Only what came from the queue's file can have the right sum, and be no event.
            guard let line = JournalLine(line), line.number > slice.next, line.outbox == nil || line.isReadable else {
                continue
            }
            let begin = line.gap?.lowerBound ?? line.number
            if begin > slice.next + 1 {
                skip(.damaged, to: begin - 1)
                guard hasRoom else { break }
            }
            slice.next = line.number
            guard isWanted(line) else { continue }
            slice.events.append(line.event)
            bytesWanted += line.event.count
        }
        return false
    }

    private func isWanted(_ line: JournalLine) -> Bool {
        let type = line.type
        guard type != "gap" else { return line.isVisible(to: user) }
        if let types = query.types, !types.contains(type) { return false }
        return line.isVisible(to: user)
    }
}
