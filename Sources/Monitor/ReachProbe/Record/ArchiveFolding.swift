package import ReachCore
package import ReachRecords

/// Folds the results of a probe into rows of minutes, ten minutes and two hours, until they are written. A pure value.
///
/// Rows have the time of the wall clock, and lengths come from the boot clock, so that a clock that is set makes no
/// time. A result covers the time up to the next one, but not much longer than until that is due: a machine that sleeps
/// observes nothing.
package struct ArchiveFolding: Hashable, Sendable {
    private struct Key: Hashable {
        let level: ArchiveLevel
        let slot: UInt32
    }

    /// What belongs to one row so far.
    private struct Sums: Hashable {
        /// Nanoseconds of each kind.
        var ok: Int64 = 0
        var fail: Int64 = 0
        var paused: Int64 = 0
        var inconclusive: Int64 = 0
        var answered = 0
        var failed = 0
        var sent = 0
        var lost = 0
        var microseconds: Int64 = 0
        var least: Int64 = .max
        var most: Int64 = 0

        mutating func add(_ time: Int64, of kind: UptimeMeter.Kind) {
            switch kind {
            case .ok: ok += time
            case .fail: fail += time
            case .paused: paused += time
            case .inconclusive: inconclusive += time
            }
        }
    }

    private var open: [Key: Sums] = [:]
    private var kind = UptimeMeter.Kind.inconclusive
    private var since: Instant
    /// How long the latest result may still cover.
    private var rest: Duration
    private let longest: Duration

    /// More at a time is a sleep, of a machine whose rows are written every quarter of an hour.
    private static let longestAtOnce = Duration.seconds(3600)
    /// A clock that shows an earlier time has not been set.
    private static let earliest: Int64 = 1_735_689_600  // 2025-01-01

    package init(_ specification: ProbeSpecification, at now: Instant) {
        longest = specification.interval * 2 + specification.effectiveTimeout
        rest = longest
        since = now
    }

    /// Adds an attempt.
    package mutating func add(_ result: ProbeResult, at now: Instant) {
        let isAnswered: Bool
        switch result.outcome {
        case .ok: isAnswered = true
        case .fail: isAnswered = false
        case .inconclusive: return
        }
        each(at: now.wall) { sums in
            sums.answered += isAnswered ? 1 : 0
            sums.failed += isAnswered ? 0 : 1
            sums.sent += result.burst?.sent ?? 1
            sums.lost += result.burst?.lost ?? (isAnswered ? 0 : 1)
            guard isAnswered else { return }
            let time = max(0, result.duration.microseconds)
            sums.microseconds += time
            (sums.least, sums.most) = (min(sums.least, time), max(sums.most, time))
        }
    }

    /// Sets the kind that holds from now on.
    package mutating func change(to kind: UptimeMeter.Kind, at now: Instant) {
        cover(until: now)
        self.kind = kind
        rest = kind == .paused ? .seconds(10 * 365 * 86_400) : longest
    }

    /// Adds the time that the present kind has held since the last call.
    package mutating func cover(until now: Instant) {
        let elapsed = max(.zero, now.boot - since.boot)
        let covered = min(elapsed, rest, Self.longestAtOnce)
        // The first part of it is covered, and the rest was slept; without a rest, the present clock is the best.
        let start =
            covered < elapsed
            ? since.wall.nanosecondsSince1970 : now.wall.nanosecondsSince1970 - covered.nanoseconds
        rest = max(.zero, rest - elapsed)
        since = now
        for level in ArchiveLevel.allCases { add(covered.nanoseconds, from: start, level) }
    }

    private mutating func add(_ length: Int64, from start: Int64, _ level: ArchiveLevel) {
        let step = level.step * 1_000_000_000
        var (time, rest) = (start, length)
        while rest > 0, time >= Self.earliest * 1_000_000_000 {
            let part = min(rest, step - time % step)
            let key = Key(level: level, slot: level.slot(of: time / 1_000_000_000))
            open[key, default: Sums()].add(part, of: kind)
            (time, rest) = (time + part, rest - part)
        }
    }

    private mutating func each(at wall: Timestamp, _ body: (inout Sums) -> Void) {
        let seconds = wall.nanosecondsSince1970 / 1_000_000_000
        guard seconds >= Self.earliest else { return }
        for level in ArchiveLevel.allCases {
            body(&open[Key(level: level, slot: level.slot(of: seconds)), default: Sums()])
        }
    }

    /// What is new since the last call, to be added to the rows that are written.
    package mutating func drain(at now: Instant) -> [ArchiveRow] {
        cover(until: now)
        defer { open = [:] }
        return open.map { Self.row($0.key, $0.value) }
            .sorted { ($0.level.rawValue, $0.slot) < ($1.level.rawValue, $1.slot) }
    }

    private static func row(_ key: Key, _ sums: Sums) -> ArchiveRow {
        var row = ArchiveRow(key.level, slot: key.slot)
        let part = key.level.step * 1_000_000_000 / Int64(ArchiveRow.wholeTime)
        func parts(_ time: Int64) -> Int { Int((time + part / 2) / part) }
        // By the same way as later sums, which keeps the whole within the row's time.
        var times = ArchiveRow(key.level, slot: key.slot)
        (times.ok, times.fail, times.paused, times.inconclusive) = (
            parts(sums.ok), parts(sums.fail), parts(sums.paused), parts(sums.inconclusive)
        )
        (row.answered, row.failed) = (sums.answered, sums.failed)
        if sums.sent > 0 { row.lost = sums.lost * 10_000 / sums.sent }
        if sums.answered > 0 {
            (row.least, row.most) = (Int(sums.least), Int(sums.most))
            row.mean = Int(sums.microseconds / Int64(sums.answered))
        }
        return row.adding(times)
    }
}
