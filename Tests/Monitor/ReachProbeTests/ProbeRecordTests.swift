import ReachCore
import ReachProbe
import ReachRecords
import Testing

@Suite struct ProbeRecordTests {
    private static func moment(_ seconds: Double) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: Int64((1_800_000_000 + seconds) * 1e9)),
            boot: BootTime(nanoseconds: Int64(seconds * 1e9)))
    }

    private static func record(down: Int = 3, up: Int = 2) throws -> ProbeRecord {
        var specification = ProbeSpecification(name: "web", target: try ProbeTarget("http://192.0.2.1/"))
        specification.thresholds = .init(down: down, up: up)
        return ProbeRecord(specification, at: moment(0))
    }

    private static func result(_ outcome: ProbeResult.Outcome, at seconds: Double = 0) -> ProbeResult {
        ProbeResult(outcome, started: moment(seconds), duration: .milliseconds(20))
    }

    /// `+` ok, `-` fail, `?` inconclusive; the event after each: `u`p, `d`own or none (`.`).
    @Test(arguments: [
        ("+", "u"), ("-", "."), ("--", ".."), ("---", "..d"), ("--+", "..u"), ("--+--", "..u.."),
        ("+--", "u.."), ("+---", "u..d"), ("+--+---", "u.....d"), ("+---+", "u..d."), ("+---++", "u..d.u"),
        ("---+-+", "..d..."), ("---+-++", "..d...u"), ("+-?-?-", "u....d"), ("---+?+", "..d..u"), ("????", "...."),
        ("?-", ".."), ("+?---?++", "u...d..u"),
    ])
    func `a probe is down on the third failure in a row, up on the second success, and at once on the first of all`(
        _ results: String, _ expected: String
    ) throws {
        var record = try Self.record()
        let events = results.enumerated().map { number, sign -> Character in
            let outcome: ProbeResult.Outcome =
                sign == "+" ? .ok : sign == "-" ? .fail(.timeout) : .inconclusive(.pathLost)
            switch record.add(Self.result(outcome), at: Self.moment(Double(number))) {
            case .up: return "u"
            case .down: return "d"
            default: return "."
            }
        }
        #expect(String(events) == expected)
    }

    @Test func `a state begins with the first of the results that make it`() throws {
        var record = try Self.record()
        func add(_ outcome: ProbeResult.Outcome, at seconds: Double) {
            _ = record.add(Self.result(outcome, at: seconds), at: Self.moment(seconds + 5))
        }
        add(.ok, at: 10)
        #expect(record.began == Self.moment(10))
        add(.fail(.timeout), at: 20)
        add(.inconclusive(.pathChanged), at: 30)
        add(.fail(.refused), at: 40)
        #expect(record.began == Self.moment(10))
        add(.fail(.timeout), at: 50)
        #expect(record.state == .down && record.began == Self.moment(20))
        add(.ok, at: 60)
        add(.fail(.timeout), at: 70)
        add(.ok, at: 80)
        add(.ok, at: 90)
        #expect(record.state == .up && record.began == Self.moment(80))
        add(.fail(.timeout), at: 100)
        add(.fail(.timeout), at: 110)
        _ = record.pause(.noPath, at: Self.moment(120))
        _ = record.resume(at: Self.moment(200))
        add(.fail(.timeout), at: 201)
        #expect(record.state == .down && record.began == Self.moment(201), "of the time of a pause nothing is known")
        add(.ok, at: 210)
        add(.ok, at: 220)
        _ = record.add(Self.result(.fail(.timeout), at: 230), holdsUp: true, at: Self.moment(235))
        _ = record.add(Self.result(.fail(.timeout), at: 240), holdsUp: true, at: Self.moment(245))
        _ = record.add(Self.result(.fail(.timeout), at: 250), holdsUp: true, at: Self.moment(255))
        #expect(record.release(at: Self.moment(260)) && record.began == Self.moment(230))
    }

    @Test func `a new probe has counted nothing, and the first results are counted by their kinds`() throws {
        var record = try Self.record()
        #expect(record.counts.ok == 0 && record.counts.fail == 0 && record.counts.inconclusive == 0)
        #expect(record.failures == 0 && record.pause == nil && record.last == nil)
        #expect(record.latency.count == 0 && record.phases.allSatisfy { $0 == nil })
        let report = record.report(at: Self.moment(0), next: nil)
        #expect(report.beats.isEmpty && report.state == .unknown)
        _ = record.add(Self.result(.ok), at: Self.moment(1))
        _ = record.add(Self.result(.fail(.timeout)), at: Self.moment(2))
        _ = record.add(Self.result(.fail(.timeout)), at: Self.moment(3))
        _ = record.add(Self.result(.inconclusive(.slept)), at: Self.moment(4))
        #expect(record.counts.ok == 1 && record.counts.fail == 2 && record.counts.inconclusive == 1)
        #expect(record.latency.count == 1, "only what succeeded")
    }

    @Test func `paused and inconclusive time is counted separately`() throws {
        var record = try Self.record()
        _ = record.add(Self.result(.ok), at: Self.moment(10))
        _ = record.add(Self.result(.fail(.refused)), at: Self.moment(40))
        _ = record.add(Self.result(.inconclusive(.pathChanged)), at: Self.moment(60))
        _ = record.add(Self.result(.ok), at: Self.moment(65))
        #expect(record.pause(.noPath, at: Self.moment(95)) == true)
        #expect(record.pause(.interface, at: Self.moment(96)) == false)
        #expect(record.pause == .interface)
        #expect(record.resume(at: Self.moment(1095)) == true)
        #expect(record.resume(at: Self.moment(1095)) == false)
        _ = record.add(Self.result(.ok), at: Self.moment(1096))
        let uptime = record.report(at: Self.moment(1106), next: nil).uptime
        #expect(uptime.ok == .seconds(30 + 30 + 10))
        #expect(uptime.fail == .seconds(20))
        #expect(uptime.paused == .seconds(1000))
        #expect(uptime.inconclusive == .seconds(10 + 5 + 1))
        #expect(uptime.availability.map { abs($0 - 70.0 / 90) < 1e-9 } == true)
    }

    @Test func `while the path is judged, the time after a failure is not charged to the target`() throws {
        var record = try Self.record(down: 1)
        _ = record.add(Self.result(.ok), at: Self.moment(0))
        _ = record.add(Self.result(.fail(.timeout)), holdsUp: true, at: Self.moment(30))
        #expect(record.release(at: Self.moment(40)) == true)
        #expect(record.report(at: Self.moment(45), next: nil).uptime.fail == .seconds(5))
        _ = record.add(Self.result(.ok), at: Self.moment(50))
        _ = record.add(Self.result(.fail(.timeout)), holdsUp: true, at: Self.moment(60))
        _ = record.pause(.notValidated, at: Self.moment(70))
        let uptime = record.report(at: Self.moment(80), next: nil).uptime
        #expect(uptime.ok == .seconds(30 + 10) && uptime.fail == .seconds(10))
        #expect(uptime.inconclusive == .seconds(10 + 10) && uptime.paused == .seconds(10))
    }

    @Test func `a pause of 100 intervals is one beat and no result`() throws {
        var record = try Self.record()
        _ = record.add(Self.result(.ok, at: 1), at: Self.moment(1))
        _ = record.pause(.noPath, at: Self.moment(2))
        _ = record.resume(at: Self.moment(3002))
        _ = record.add(Self.result(.ok), at: Self.moment(3002))
        let report = record.report(at: Self.moment(3003), next: nil)
        #expect(report.beats.map(\.kind) == [.ok, .paused, .ok])
        #expect(record.counts.ok == 2)
        #expect(report.since == Self.moment(1).wall)
    }

    @Test func `the archive has what happens from its beginning on, also of a pause that began before`() throws {
        var record = try Self.record()
        func minutes(until seconds: Double) -> ArchiveRow {
            let rows = record.drainArchive(at: Self.moment(seconds)).filter { $0.level == .minutes }
            return rows.reduce(into: ArchiveRow(.minutes, slot: 0)) { sum, row in
                (sum.ok, sum.fail, sum.paused) = (sum.ok + row.ok, sum.fail + row.fail, sum.paused + row.paused)
                sum.inconclusive += row.inconclusive
                (sum.answered, sum.failed) = (sum.answered + row.answered, sum.failed + row.failed)
            }
        }
        _ = record.add(Self.result(.ok), at: Self.moment(1))
        #expect(record.drainArchive(at: Self.moment(20)).isEmpty, "there is none")
        _ = record.pause(.noPath, at: Self.moment(30))
        record.setArchived(true, at: Self.moment(40))
        record.setArchived(true, at: Self.moment(50))
        let paused = minutes(until: 60)
        #expect(paused.paused == 20_000 && paused.ok + paused.fail + paused.inconclusive + paused.answered == 0)
        _ = record.resume(at: Self.moment(60))
        _ = record.add(Self.result(.ok), at: Self.moment(65))
        _ = record.add(Self.result(.fail(.timeout)), at: Self.moment(85))
        let later = minutes(until: 95)
        #expect(later.inconclusive == 5000 && later.ok == 20_000 && later.fail == 10_000 && later.paused == 0)
        #expect(later.answered == 1 && later.failed == 1)
        record.setArchived(false, at: Self.moment(95))
        #expect(record.drainArchive(at: Self.moment(100)).isEmpty)
    }

    @Test func `memory does not grow with the number of results`() throws {
        var record = try Self.record()
        for second in 0..<5000 { _ = record.add(Self.result(.ok), at: Self.moment(Double(second))) }
        #expect(record.report(at: Self.moment(5000), next: nil).beats.count == ProbeRecord.beatsKept)
        #expect(record.latency.count == 5000)
    }

    @Test func `percentiles are off by no more than a twentieth`() throws {
        var histogram = LatencyHistogram(.fine)
        #expect(histogram.percentile(0.5) == nil)
        for microseconds in 1...10_000 { histogram.add(.microseconds(microseconds * 10)) }
        for (fraction, exact) in [(0.5, 50.0), (0.9, 90.0), (0.99, 99.0)] {
            let milliseconds = try #require(histogram.percentile(fraction)) / .milliseconds(1)
            #expect(abs(milliseconds - exact) <= exact / 20)
        }
        #expect(histogram.sum == .microseconds(10 * 10_000 * 10_001 / 2))
    }

    @Test func `a bucket holds durations up to its bound, inclusive`() {
        var histogram = LatencyHistogram(.prometheus)
        for milliseconds in [0, 1, 5, 6, 10_000, 10_001] { histogram.add(.milliseconds(milliseconds)) }
        #expect(histogram.counts == [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
        #expect(histogram.percentile(1) == .seconds(10))
    }

    @Test func `counts of an earlier run are restored into their buckets, and into no other`() {
        var histogram = LatencyHistogram(.prometheus)
        histogram.add(.milliseconds(3))
        let restored = [histogram.restore(7, at: 2), histogram.restore(9, at: 12), histogram.restore(1, at: 13)]
        #expect(restored == [true, true, false])
        #expect(histogram.counts == [0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9] && histogram.count == 17)
    }

    @Test func `a later run continues with the totals of an earlier one, but not with its state`() throws {
        var record = try Self.record()
        var result = Self.result(.ok)
        result.phases[.connect] = .milliseconds(3)
        for second in 0..<10 { _ = record.add(result, at: Self.moment(Double(second))) }
        for second in 10..<14 { _ = record.add(Self.result(.fail(.timeout)), at: Self.moment(Double(second))) }
        let totals = record.totals(at: Self.moment(20))
        #expect(totals.uptime != ProbeUptime() && totals.counts.ok == 10 && totals.beats.count == 14)
        var later = ProbeRecord(
            ProbeSpecification(name: "web", target: try ProbeTarget("http://192.0.2.1/")), at: Self.moment(20))
        later.restore(totals)
        #expect(later.totals(at: Self.moment(20)) == totals)
        #expect(record.state == .down && later.state == .unknown)
    }

    @Test func `a histogram comes back from the buckets that have counts`() {
        var histogram = LatencyHistogram(.prometheus)
        for milliseconds in [3, 3, 70_000] { histogram.add(.milliseconds(milliseconds)) }
        #expect(histogram.filled.map(\.place) == [1, 12] && histogram.filled.map(\.count) == [2, 1])
        #expect(LatencyHistogram(.prometheus, filled: histogram.filled, sum: histogram.sum) == histogram)
        #expect(LatencyHistogram(.prometheus, filled: [(13, 1)], sum: .zero) == nil)
    }

    @Test func `phases are counted for failed attempts, but not for inconclusive ones`() throws {
        var record = try Self.record()
        var result = Self.result(.fail(.timeout))
        result.phases[.connect] = .milliseconds(3)
        _ = record.add(result, at: Self.moment(1))
        result.outcome = .inconclusive(.slept)
        _ = record.add(result, at: Self.moment(2))
        #expect(record.phases[ProbePhase.connect.place]?.count == 1)
        #expect(record.phases[ProbePhase.tls.place] == nil)
        #expect(record.latency.count == 0)
    }

    @Test func `admission starts as many as the limit allows, and the others in order`() {
        var admission = ProbeAdmission<Int>(limit: 2)
        #expect(admission.request(1) == true)
        #expect(admission.request(2) == true)
        for id in 3...600 { #expect(admission.request(id) == false) }
        #expect(admission.next() == nil)
        admission.release(4)
        admission.release(1)
        #expect(admission.request(601) == false)
        #expect(admission.next() == 3)
        #expect(admission.next() == nil)
        admission.release(2)
        #expect(admission.next() == 5)
        var last = 5
        admission.release(3)
        while let id = admission.next() {
            #expect(id > last)
            last = id
            admission.release(id)
        }
        #expect(last == 601)
        #expect(admission.runningCount == 1)
        #expect(admission.waitingCount == 0)
    }
}
