import ReachCore
import ReachRecords
import Testing

@Suite struct ArchiveRowTests {
    private static func row(_ change: (inout ArchiveRow) -> Void = { _ in }) -> ArchiveRow {
        var row = ArchiveRow(.minutes, slot: 7)
        change(&row)
        return row
    }

    private static let some = row {
        ($0.ok, $0.fail, $0.paused, $0.inconclusive) = (30_000, 10_000, 5_000, 1_000)
        ($0.answered, $0.failed, $0.lost) = (3, 1, 2_500)
        ($0.least, $0.mean, $0.most) = (1_000, 2_000, 4_000)
    }

    @Test func `two rows of one time are added, by their attempts`() {
        let other = Self.row {
            ($0.ok, $0.fail, $0.paused, $0.inconclusive) = (1_000, 2_000, 3_000, 4_000)
            ($0.answered, $0.failed, $0.lost) = (1, 3, 7_500)
            ($0.least, $0.mean, $0.most) = (500, 6_000, 6_000)
        }
        let sum = Self.some.adding(other)
        #expect([sum.ok, sum.fail, sum.paused, sum.inconclusive] == [31_000, 12_000, 8_000, 5_000])
        #expect([sum.answered, sum.failed, sum.lost] == [4, 4, 5_000])
        #expect([sum.least, sum.mean, sum.most] == [500, 3_000, 6_000])
        #expect(other.adding(Self.some) == sum)
    }

    @Test func `a row without attempts changes nothing but the times`() {
        let idle = Self.row { $0.paused = 10_000 }
        for sum in [Self.some.adding(idle), idle.adding(Self.some)] {
            #expect([sum.least, sum.mean, sum.most] == [1_000, 2_000, 4_000])
            #expect([sum.answered, sum.failed, sum.lost] == [3, 1, 2_500])
            #expect(sum.paused == 15_000)
        }
        #expect(idle.adding(idle).least == 0 && idle.adding(idle).lost == 0)
    }

    @Test func `a sum is no more than the row's time, and keeps what went wrong`() {
        let long = Self.row { ($0.ok, $0.fail, $0.paused) = (40_000, 15_000, 5_000) }
        let sum = long.adding(long)
        #expect([sum.fail, sum.ok, sum.paused, sum.inconclusive] == [30_000, 30_000, 0, 0])
        let many = Self.row { ($0.answered, $0.failed) = (65_000, 65_000) }
        #expect(many.adding(many).answered == 65_535 && many.adding(many).failed == 65_535)
    }

    @Test func `a row comes back from its bytes, and nothing else does`() {
        let bytes = Self.some.bytes
        #expect(bytes.count == ArchiveRow.size)
        #expect(ArchiveRow(bytes[...], .minutes) == Self.some)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(ArchiveRow(damaged[...], .minutes) == nil, "\(index)")
        }
        #expect(ArchiveRow(bytes.dropLast(), .minutes) == nil && ArchiveRow(bytes[...] + [0], .minutes) == nil)
        #expect(ArchiveRow([UInt8](repeating: 0, count: 32)[...], .minutes) == nil)
        let tooLong = Self.row { ($0.ok, $0.fail) = (60_000, 1) }
        #expect(ArchiveRow(tooLong.bytes[...], .minutes) == nil)
        let whole = Self.row { ($0.ok, $0.lost) = (60_000, 10_000) }
        #expect(ArchiveRow(whole.bytes[...], .minutes) == whole)
        #expect(ArchiveRow(Self.row { $0.lost = 10_001 }.bytes[...], .minutes) == nil)
    }

    @Test func `a row has the time of its slot`() {
        #expect(Self.some.from == Timestamp(secondsSince1970: 420, nanoseconds: 0))
        #expect(Self.some.to == Timestamp(secondsSince1970: 480, nanoseconds: 0))
        #expect(ArchiveLevel.tenMinutes.slot(of: 1_199) == 1 && ArchiveLevel.twoHours.slot(of: -1) == 0)
        #expect(ArchiveLevel.minutes.place(of: 2_881) == 1)
    }
}
