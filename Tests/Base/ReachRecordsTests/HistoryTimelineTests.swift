import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct HistoryTimelineTests {
    private var script = HistoryScript()

    @Test func `the first element that is after another one is found in an array that is in order`() {
        #expect([0, 1, 3, 4].map { wanted in [0, 1, 1, 3].partitioningIndex { $0 >= wanted } } == [0, 1, 3, 4])
        #expect([Int]().partitioningIndex { _ in true } == 0)
    }

    @Test(arguments: [Int64.min, -1, Int64.max]) func `times of a damaged record are from 1970 to 2200`(
        nanoseconds: Int64
    ) {
        let now = Instant(wall: Timestamp(nanosecondsSince1970: 1), boot: BootTime(nanoseconds: 0))
        let moment = Instant(
            wall: Timestamp(nanosecondsSince1970: nanoseconds), boot: BootTime(nanoseconds: nanoseconds))
        let time = HistoryClock([], now: now, boot: "boot").time(of: moment, boot: "boot")
        #expect((Timestamp(nanosecondsSince1970: 0)...Timestamp.latest).contains(time))
    }

    @Test mutating func `each state holds until the next one, and the last one until now`() {
        script.add(.started(lastSeen: nil), at: 90)
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 120)
        script.add(.unknown, at: 150)
        script.add(.reachable, at: 160)
        #expect(script.timeline(now: 200).shown == "100-120 up, 120-150 down, 150-160 unknown, 160-200 up")
    }

    @Test mutating func `a window shows the state at its beginning, and nothing before the first record`() {
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 120)
        #expect(script.timeline(since: 50, now: 160).shown == "110-120 up, 120-160 down")
        #expect(script.timeline(since: 80, now: 160).shown == "80-100 notObserved, 100-120 up, 120-160 down")
        #expect(script.timeline(since: 10, now: 160).shown == "150-160 down")
    }

    @Test mutating func `a machine that starts in 1970 and gets its time later has its outages in the present`() {
        script.boot("second", origin: 1_000_000)
        script.add(.started(lastSeen: nil), at: 1_000_001, wallClockAheadBy: -1_000_000)
        script.add(.reachable, at: 1_000_002, wallClockAheadBy: -1_000_000)
        script.add(.notReachable, at: 1_000_010, wallClockAheadBy: -1_000_000)
        script.add(.reachable, at: 1_000_030)
        let shown = "1000002-1000010 up, 1000010-1000030 down, 1000030-1000040 up"
        #expect(script.timeline(now: 1_000_040).shown == shown)
        // Also once that boot is over, and its last record has the time.
        script.boot("third", origin: 1_000_050)
        #expect(script.timeline(now: 1_000_060, isRunning: false).shown.hasPrefix(shown.dropLast(13)))
    }

    @Test mutating func `other targets and repeated states do not matter`() {
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 110, target: "other")
        script.add(.reachable, at: 120)
        #expect(script.timeline(now: 130).shown == "100-130 up")
        #expect(script.timeline("other", now: 130).shown == "110-130 down")
        #expect(script.timeline("absent", now: 130).shown == "")
        #expect(script.timeline("absent", since: 30, now: 130).shown == "100-130 notObserved")
        #expect(script.log.targets == ["internet", "other"])
    }

    @Test mutating func `the time without a daemon is neither up nor down`() {
        script.add(.reachable, at: 100)
        script.add(.stopped, at: 120)
        script.add(.started(lastSeen: nil), at: 150)
        script.add(.reachable, at: 151)
        #expect(script.timeline(now: 160).shown == "100-120 up, 120-151 notObserved, 151-160 up")
    }

    @Test mutating func `interface and class are known while the target is reachable, and no longer`() {
        func state(_ interface: String, _ linkClass: String) -> HistoryEntry.Content {
            .state(
                HistoryEntry.State(target: "internet", status: .reachable, linkClass: linkClass, interface: interface))
        }
        script.add(state("eth0", "wired"), at: 100)
        script.add(state("eth0", "wired"), at: 105)
        script.add(state("wlan0", "wifi"), at: 110)
        script.add(.notReachable, at: 120)
        script.add(state("wlan0", "wifi"), at: 130)
        script.add(.stopped, at: 140)
        script.add(.started(lastSeen: nil), at: 150)
        script.add(state("wlan0", "wwan"), at: 151)
        let shown = script.timeline(since: 55, now: 160).passages.map {
            "\($0.from.nanosecondsSince1970 / 1_000_000_000)-\($0.to.nanosecondsSince1970 / 1_000_000_000) "
                + "\($0.interface ?? "") \($0.linkClass ?? "")"
        }
        #expect(shown == ["105-110 eth0 wired", "110-120 wlan0 wifi", "130-140 wlan0 wifi", "151-160 wlan0 wwan"])
        #expect(
            script.timeline(now: 160).shown == "100-120 up, 120-130 down, 130-140 up, 140-151 notObserved, 151-160 up")
    }

    @Test mutating func `the last record of a killed daemon holds until its last sign of life`() {
        script.add(.reachable, at: 100)
        script.add(.started(lastSeen: .at(130)), at: 150)
        script.add(.notReachable, at: 150)
        #expect(script.timeline(now: 160).shown == "100-130 up, 130-150 notObserved, 150-160 down")
    }

    @Test mutating func `without a sign of life, a killed daemon's state holds until its last record`() {
        script.add(.reachable, at: 100)
        script.add(.reachable, at: 110, target: "other")
        script.add(.started(lastSeen: nil), at: 150)
        #expect(script.timeline(now: 160).shown == "100-110 up, 110-160 notObserved")
    }

    @Test mutating func `if no daemon runs, nothing is known after the last sign of life`() {
        script.add(.reachable, at: 100)
        script.lastSeen(at: 140)
        #expect(script.timeline(now: 160, isRunning: false).shown == "100-140 up, 140-160 notObserved")
        #expect(script.timeline(now: 160, isRunning: true).shown == "100-160 up")
    }

    @Test mutating func `the time after lost records is unknown until the next record`() {
        script.add(.dropped(count: 1), at: 90)
        script.add(.reachable, at: 100)
        script.add(.dropped(count: 5), at: 120)
        script.add(.reachable, at: 130)
        #expect(script.timeline(now: 140).shown == "100-120 up, 120-130 unknown, 130-140 up")
    }

    @Test mutating func `a target that is no longer watched is not observed`() {
        script.add(.reachable, at: 100)
        script.add(.unwatched(target: "other"), at: 110)
        script.add(.unwatched(target: "internet"), at: 120)
        #expect(script.timeline(now: 140).shown == "100-120 up, 120-140 notObserved")
    }

    @Test mutating func `a wall clock that was set does not change durations`() {
        script.boot("second", origin: 1000)
        script.add(.notReachable, at: 1005, wallClockAheadBy: -1005)
        script.add(.reachable, at: 1015, wallClockAheadBy: -1005)
        script.add(.notReachable, at: 1020)
        #expect(script.timeline(now: 1030).shown == "1005-1015 down, 1015-1020 up, 1020-1030 down")
    }

    @Test mutating func `an earlier boot keeps its own times`() {
        script.add(.reachable, at: 100)
        script.add(.stopped, at: 120)
        script.boot("second", origin: 200)
        script.add(.started(lastSeen: nil), at: 210)
        script.add(.notReachable, at: 210)
        #expect(script.timeline(now: 220).shown == "100-120 up, 120-210 notObserved, 210-220 down")
    }

    @Test mutating func `times that run backwards between boots are put in the order of the file`() {
        script.add(.reachable, at: 500)
        script.boot("second", origin: 100)
        script.add(.notReachable, at: 150)
        #expect(script.timeline(now: 600).shown == "500-600 down")
    }

    @Test mutating func `future and damaged records do not trap`() {
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 900)
        #expect(script.timeline(now: 200).shown == "100-200 up")
        let far = Instant(wall: Timestamp(nanosecondsSince1970: .min), boot: BootTime(nanoseconds: .max))
        var log = script.log
        log.entries.append(HistoryEntry(.stopped, at: far, boot: "third"))
        let timeline = HistoryTimeline(
            of: "internet", in: log, since: .seconds(500), now: script.now(200), boot: "first", isRunning: true)
        #expect(timeline.from == .at(-300))
        #expect(timeline.to == .at(200))
    }
}
