package import ReachCore

/// How finely an archive keeps the results of a probe, and for how long.
package enum ArchiveLevel: Int, Hashable, Sendable, CaseIterable {
    case minutes
    case tenMinutes
    case twoHours

    /// The length of a row in seconds.
    package var step: Int64 {
        switch self {
        case .minutes: 60
        case .tenMinutes: 600
        case .twoHours: 7200
        }
    }

    /// The number of rows; the next one replaces the oldest. Together with the head they are a MiB.
    package var capacity: Int {
        switch self {
        case .minutes: 2 * 1440
        case .tenMinutes: 60 * 144
        case .twoHours: 21_120  // four years and ten months
        }
    }

    /// The row with a moment in it, as a number since 1970.
    package func slot(of seconds: Int64) -> UInt32 { UInt32(clamping: seconds / step) }

    /// The place of a row among those of its level.
    package func place(of slot: UInt32) -> Int { Int(slot) % capacity }
}

/// What the attempts of a probe found in one row's time.
package struct ArchiveRow: Hashable, Sendable {
    /// The parts of a row's time: how long the latest result was of each kind. What is left was not observed.
    package static let wholeTime = 60_000

    package let level: ArchiveLevel
    package let slot: UInt32
    /// In ``wholeTime`` parts of the row.
    package var ok = 0
    package var fail = 0
    package var paused = 0
    package var inconclusive = 0
    /// Attempts that were ok, and that failed.
    package var answered = 0
    package var failed = 0
    /// Requests that were lost, in ten-thousandths: of bursts each, otherwise one for each attempt.
    package var lost = 0
    /// The durations in microseconds of attempts that were ok; 0 without any.
    package var least = 0
    package var mean = 0
    package var most = 0

    package init(_ level: ArchiveLevel, slot: UInt32) { (self.level, self.slot) = (level, slot) }

    package var from: Timestamp { Timestamp(nanosecondsSince1970: Int64(slot) * level.step * 1_000_000_000) }
    package var to: Timestamp { Timestamp(nanosecondsSince1970: (Int64(slot) + 1) * level.step * 1_000_000_000) }

    /// The row with what another one has of the same time. No sum becomes more than the row's time.
    package func adding(_ other: ArchiveRow) -> ArchiveRow {
        var sum = self
        let (ours, theirs) = (answered + failed, other.answered + other.failed)
        if ours + theirs > 0 { sum.lost = (lost * ours + other.lost * theirs) / (ours + theirs) }
        if answered + other.answered > 0 {
            sum.mean = (mean * answered + other.mean * other.answered) / (answered + other.answered)
        }
        if other.answered > 0 { sum.least = answered > 0 ? min(least, other.least) : other.least }
        sum.most = max(most, other.most)
        sum.answered = min(answered + other.answered, Int(UInt16.max))
        sum.failed = min(failed + other.failed, Int(UInt16.max))
        var room = Self.wholeTime
        func add(_ left: Int, _ right: Int) -> Int {
            let time = min(left + right, room)
            room -= time
            return time
        }
        // A clock that was set back brings a time twice. What went wrong in it is not forgotten.
        sum.fail = add(fail, other.fail)
        sum.ok = add(ok, other.ok)
        sum.paused = add(paused, other.paused)
        sum.inconclusive = add(inconclusive, other.inconclusive)
        return sum
    }
}

// MARK: - Bytes

extension ArchiveRow {
    /// The size of a row in bytes: a divisor of a disk's sectors, so that a loss of power leaves it whole or untouched.
    package static let size = 32

    /// The row as bytes, least significant first, with a checksum at the end.
    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ value: Int, _ count: Int) {
            let limited = min(max(0, value), (1 << (8 * count)) - 1)
            for byte in 0..<count { bytes.append(UInt8(truncatingIfNeeded: limited >> (8 * byte))) }
        }
        add(Int(slot), 4)
        for value in [ok, fail, paused, inconclusive, answered, failed] { add(value, 2) }
        for value in [least, mean, most] { add(value, 4) }
        add(lost, 2)
        add(Int(CyclicRedundancy.checksum(bytes) & 0xffff), 2)
        return bytes
    }

    /// - Returns: `nil` if nothing, or something else, is written there.
    package init?(_ bytes: ArraySlice<UInt8>, _ level: ArchiveLevel) {
        guard bytes.count == Self.size else { return nil }
        let bytes = Array(bytes)
        func value(_ first: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[first + $1]) << (8 * $1) }
        }
        guard value(0, 4) > 0, value(30, 2) == Int(CyclicRedundancy.checksum(Array(bytes[..<30])) & 0xffff) else {
            return nil
        }
        self.init(level, slot: UInt32(value(0, 4)))
        (ok, fail, paused, inconclusive) = (value(4, 2), value(6, 2), value(8, 2), value(10, 2))
        (answered, failed) = (value(12, 2), value(14, 2))
        (least, mean, most) = (value(16, 4), value(20, 4), value(24, 4))
        lost = value(28, 2)
        guard ok + fail + paused + inconclusive <= Self.wholeTime, lost <= 10_000 else { return nil }
    }
}
