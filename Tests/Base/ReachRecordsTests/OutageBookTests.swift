import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct OutageBookTests {
    private static let states: [HistoryEntry.State] = [
        HistoryEntry.State(target: "internet", status: .reachable, connectivity: "full"),
        HistoryEntry.State(target: "internet", status: .reachable, connectivity: "full"),
        HistoryEntry.State(target: "internet", status: .reachable, connectivity: "unknown"),
        HistoryEntry.State(target: "internet", status: .reachable, connectivity: "limited"),
        HistoryEntry.State(target: "internet", status: .notReachable, reason: "no-carrier"),
        HistoryEntry.State(target: "internet", status: .notReachable, reason: "no-route"),
        HistoryEntry.State(target: "internet", status: .unknown),
    ]

    private static func instant(_ milliseconds: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: milliseconds * 1_000_000),
            boot: BootTime(nanoseconds: milliseconds * 1_000_000))
    }

    @Test func `a target works again once that is proved, or has lasted, and not before`() {
        var book = OutageBook()
        func works(_ milliseconds: Int64) -> Bool? { book.use(of: "internet", at: Self.instant(milliseconds)).works }
        #expect(works(500) == nil)
        book.observe(Self.states[2], at: Self.instant(1000))
        #expect(works(1001) == true, "nothing speaks against it")
        book.observe(Self.states[3], at: Self.instant(2000))
        #expect(works(2001) == false)
        book.observe(Self.states[2], at: Self.instant(3000))
        #expect(works(3001) == false)
        #expect(book.use(of: "internet", at: Self.instant(3001)).again == BootTime(nanoseconds: 13_000_000_000))
        #expect(works(13_000) == true)
        book.observe(Self.states[3], at: Self.instant(20_000))
        book.observe(Self.states[0], at: Self.instant(21_000))
        #expect(works(21_000) == true)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `begin and length of an outage are those of the history`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (book, script, now) = (OutageBook(), HistoryScript(), 1000)
        for _ in 0..<30 {
            // Mostly seconds, and often the moments of a way back.
            now += .random(in: random.oneIn(2) ? 100..<1500 : 2000..<40_000, using: &random)
            if random.oneIn(12) {
                now = (now / 1000 + 1) * 1000
                script.add(.unwatched(target: "internet"), at: now / 1000)
                book.remove("internet")
                continue
            }
            if random.oneIn(10) {
                now = (now / 1000 + 1) * 1000
                let isCrash = random.oneIn(2)
                if isCrash { script.lastSeen(at: now / 1000) } else { script.add(.stopped, at: now / 1000) }
                let lastSeen = isCrash ? Timestamp.at(now / 1000) : nil
                now += 1000 * .random(in: 1...30, using: &random)
                book = OutageBook(script.log, now: Self.instant(Int64(now)), boot: script.currentBoot)
                script.add(.started(lastSeen: lastSeen), at: now / 1000)
                now += 500
            }
            let state = random.pick(Self.states)
            script.add(state, atMillisecond: now)
            book.observe(state, at: Self.instant(Int64(now)))
            let later = now + 50
            let timeline = HistoryTimeline(
                of: "internet", in: script.log, since: nil, now: Self.instant(Int64(later)),
                boot: script.currentBoot, isRunning: true)
            let summary = HistorySummary(timeline)
            let outage = book.latest(of: "internet", at: Self.instant(Int64(later)))
            guard let outage else { continue }
            let last = try #require(summary.outages.last, "\(timeline.shown)")
            #expect(outage.since.wall == last.from, "\(timeline.shown)")
            if let length = outage.length { #expect(length == last.duration, "\(timeline.shown)") }
            let isOpen = outage.length == nil && summary.unknown == .zero
            if isOpen { #expect(summary.isDown, "\(timeline.shown)") }
        }
    }

    @Test func `an outage goes on where the daemon was restarted meanwhile, also with the machine`() {
        var script = HistoryScript()
        script.add(.notReachable, at: 100, target: "probe:nas")
        script.add(.reachable, at: 100, target: "probe:printer")
        script.add(.stopped, at: 110)
        script.boot("second", origin: 120)
        let earlier = OutageBook(script.log, now: script.now(130), boot: "second")
        #expect(earlier.down == ["probe:nas"])
        var book = earlier
        #expect(book.latest(of: "probe:nas", at: script.now(130))?.since.wall == .at(100))
        script.add(.started(lastSeen: nil), at: 130)
        let (down, up) = (
            HistoryEntry.State(target: "probe:nas", status: .notReachable, reason: "timeout"),
            HistoryEntry.State(target: "probe:nas", status: .reachable)
        )
        book.observe(down, at: script.now(131))
        book.observe(up, at: script.now(140))
        let outage = book.latest(of: "probe:nas", at: script.now(150))
        #expect(outage?.since.wall == .at(100) && outage?.length == .seconds(19), "no one saw 21 of the seconds")
        #expect(book.down.isEmpty)
        script.add(.state(down), at: 131)
        script.add(.state(up), at: 140)
        let summary = HistorySummary(script.timeline("probe:nas", now: 150))
        #expect(summary.outages.map(\.duration) == [.seconds(19)] && summary.outages[0].from == .at(100))
    }

    @Test func `an outage of a target that was removed is over`() {
        var (book, script) = (OutageBook(), HistoryScript())
        let state = HistoryEntry.State(target: "probe:nas", status: .notReachable, reason: "timeout")
        script.add(.state(state), at: 10)
        book.observe(state, at: Self.instant(10_000))
        #expect(book.latest(of: "probe:nas", at: Self.instant(11_000))?.length == nil)
        #expect(HistorySummary(script.timeline("probe:nas", now: 20)).isDown)
        script.add(.unwatched(target: "probe:nas"), at: 20)
        book.remove("probe:nas")
        #expect(book.latest(of: "probe:nas", at: Self.instant(21_000)) == nil)
        let removed = HistorySummary(script.timeline("probe:nas", now: 50))
        #expect(!removed.isDown && removed.outages.count == 1 && removed.down == .seconds(10))
        script.add(.stopped, at: 60)
        script.add(.started(lastSeen: nil), at: 70)
        script.add(.state(state), at: 80)
        let again = HistorySummary(script.timeline("probe:nas", now: 90))
        #expect(again.isDown && again.outages.map(\.duration) == [.seconds(10), .seconds(10)])
    }

    @Test func `what was down when the daemon ended is not down now`() {
        var script = HistoryScript()
        script.add(.notReachable, at: 10)
        script.add(.stopped, at: 20)
        let summary = HistorySummary(script.timeline(now: 50, isRunning: false))
        #expect(!summary.isDown && summary.outages.count == 1 && summary.notObserved == .seconds(30))
        script.add(.started(lastSeen: nil), at: 60)
        script.add(.notReachable, at: 60)
        let again = HistorySummary(script.timeline(now: 70))
        #expect(again.isDown && again.outages.count == 1, "it was never seen up")
    }
}
