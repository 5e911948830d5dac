import ReachCore
import ReachProbe
import ReachRecords
import Testing

@Suite struct ArchiveFoldingTests {
    private static let second: Int64 = 1_000_000_000
    /// 2026-11-27 at 12:00:00 UTC, the beginning of a row of each level.
    private static let noon: Int64 = 1_795_780_800

    private static func moment(_ boot: Double, wall: Double? = nil) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: noon * second + Int64((wall ?? boot) * 1e9)),
            boot: BootTime(nanoseconds: Int64(boot * 1e9)))
    }

    private static func specification(every interval: Duration = .seconds(30)) throws -> ProbeSpecification {
        var specification = ProbeSpecification(name: "a", target: try ProbeTarget("icmp://192.0.2.1"))
        specification.interval = interval
        return specification
    }

    private static func result(_ outcome: ProbeResult.Outcome, _ milliseconds: Int64 = 10) -> ProbeResult {
        ProbeResult(outcome, started: moment(0), duration: .milliseconds(milliseconds))
    }

    private static func row(_ rows: [ArchiveRow], _ level: ArchiveLevel, at second: Int64) -> ArchiveRow? {
        rows.first { $0.level == level && $0.slot == level.slot(of: noon + second) }
    }

    @Test func `results of a minute are in rows of all levels`() throws {
        var folding = ArchiveFolding(try Self.specification(), at: Self.moment(0))
        folding.add(Self.result(.ok, 10), at: Self.moment(0))
        folding.change(to: .ok, at: Self.moment(0))
        folding.add(Self.result(.fail(.timeout)), at: Self.moment(30))
        folding.change(to: .fail, at: Self.moment(30))
        folding.add(Self.result(.ok, 30), at: Self.moment(45))
        folding.change(to: .ok, at: Self.moment(45))
        let rows = folding.drain(at: Self.moment(90))
        let first = try #require(Self.row(rows, .minutes, at: 0))
        #expect(first.ok == 45_000 && first.fail == 15_000 && first.answered == 2 && first.failed == 1)
        #expect(first.least == 10_000 && first.mean == 20_000 && first.most == 30_000 && first.lost == 3333)
        #expect(Self.row(rows, .minutes, at: 60)?.ok == 30_000)
        #expect(Self.row(rows, .tenMinutes, at: 0)?.ok == 7500 && Self.row(rows, .tenMinutes, at: 0)?.fail == 1500)
        #expect(Self.row(rows, .twoHours, at: 0)?.ok == 625 && rows.count == 4)
        #expect(folding.drain(at: Self.moment(90)).isEmpty)
    }

    @Test func `a machine that sleeps observes nothing`() throws {
        var folding = ArchiveFolding(try Self.specification(), at: Self.moment(0))
        folding.change(to: .ok, at: Self.moment(0))
        // Eight hours; the result covers two intervals and a time limit.
        let rows = folding.drain(at: Self.moment(8 * 3600))
        let minutes = rows.filter { $0.level == .minutes }
        #expect(minutes.reduce(0) { $0 + $1.ok } == 65_000)
        #expect(minutes.allSatisfy { $0.slot <= ArchiveLevel.minutes.slot(of: Self.noon + 65) })
        folding.change(to: .paused, at: Self.moment(8 * 3600))
        let paused = folding.drain(at: Self.moment(9 * 3600 - 1)).filter { $0.level == .twoHours }
        // In parts of 120 milliseconds, rounded for each row.
        #expect((29_991...29_992).contains(paused.reduce(0) { $0 + $1.paused }))
    }

    @Test func `a clock that is not set makes no rows, and one that is set back none with more than their time`() throws
    {
        var folding = ArchiveFolding(try Self.specification(), at: Self.moment(0, wall: -Double(Self.noon)))
        folding.add(Self.result(.ok), at: Self.moment(10, wall: 10 - Double(Self.noon)))
        folding.change(to: .ok, at: Self.moment(10, wall: 10 - Double(Self.noon)))
        #expect(folding.drain(at: Self.moment(20, wall: 20 - Double(Self.noon))).isEmpty)
        folding.change(to: .ok, at: Self.moment(30))
        var rows = folding.drain(at: Self.moment(60))
        folding.change(to: .fail, at: Self.moment(61, wall: 1))
        rows = folding.drain(at: Self.moment(91, wall: 31)) + rows
        let whole = rows.filter { $0.level == .minutes && $0.slot == ArchiveLevel.minutes.slot(of: Self.noon) }
            .reduce(ArchiveRow(.minutes, slot: ArchiveLevel.minutes.slot(of: Self.noon))) { $0.adding($1) }
        #expect(whole.ok + whole.fail <= ArchiveRow.wholeTime && whole.fail == 30_000)
    }

    /// Random results, pauses, clocks and turns of writing, compared with a count of each second.
    @Test(arguments: 0..<12)
    func `sums are those of a count of each second`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let specification = try Self.specification(every: .seconds([10, 60, 900].randomElement(using: &random) ?? 10))
        let longest = Int64((specification.interval * 2 + specification.effectiveTimeout).nanoseconds / Self.second)
        let kinds: [UptimeMeter.Kind] = [.ok, .fail, .paused, .inconclusive]
        var (boot, offset): (Int64, Int64) = (0, 0)
        var folding = ArchiveFolding(specification, at: Self.moment(0))
        var sums: [ArchiveLevel: [UInt32: ArchiveRow]] = [:]
        var model: [ArchiveLevel: [UInt32: [Int: Int64]]] = [:]
        var (kind, since, sinceWall, rest) = (3, Int64(0), Int64(0), longest)
        var attempts = 0
        func cover() {
            let elapsed = boot - since
            let covered = min(elapsed, rest, 3600)
            let start = covered < elapsed ? sinceWall : boot + offset - covered
            for second in start..<start + covered {
                for level in ArchiveLevel.allCases {
                    model[level, default: [:]][level.slot(of: Self.noon + second), default: [:]][kind, default: 0] += 1
                }
            }
            rest = max(0, rest - elapsed)
            (since, sinceWall) = (boot, boot + offset)
        }
        func drain() {
            for row in folding.drain(at: Self.moment(Double(boot), wall: Double(boot + offset))) {
                let before = sums[row.level]?[row.slot] ?? ArchiveRow(row.level, slot: row.slot)
                sums[row.level, default: [:]][row.slot] = before.adding(row)
            }
            cover()
        }
        for _ in 0..<150 {
            boot += Int64.random(in: 0...(Bool.random(using: &random) ? 40 : 4000), using: &random)
            // Only forward, so that no time comes twice.
            if Int.random(in: 0..<40, using: &random) == 0 { offset += Int64.random(in: 1...100_000, using: &random) }
            let now = Self.moment(Double(boot), wall: Double(boot + offset))
            switch Int.random(in: 0..<10, using: &random) {
            case 0...1: drain()
            case 2:
                folding.add(Self.result(.ok), at: now)
                attempts += 1
            default:
                cover()
                kind = Int.random(in: 0..<4, using: &random)
                rest = kind == 2 ? .max : longest
                folding.change(to: kinds[kind], at: now)
            }
        }
        drain()
        for level in ArchiveLevel.allCases {
            #expect(Set((sums[level] ?? [:]).keys).isSuperset(of: Set((model[level] ?? [:]).keys)))
            var count = 0
            for (slot, row) in sums[level] ?? [:] {
                let expected = (0..<4).map { Int((model[level]?[slot]?[$0] ?? 0) * 60_000 / level.step) }
                let found = [row.ok, row.fail, row.paused, row.inconclusive]
                // Each time that a part was written it was rounded.
                #expect(zip(expected, found).allSatisfy { abs($0 - $1) <= 40 }, "\(level) \(slot) \(expected) \(found)")
                #expect(found.reduce(0, +) <= ArchiveRow.wholeTime)
                count += row.answered
            }
            #expect(count == attempts)
        }
    }
}
