import ReachCore
import Testing

@Suite struct HistoryTimelineTests {
    private var script = HistoryScript()

    @Test mutating func `what was told last holds until something else is told, and until now`() {
        script.add(.started(lastSeen: nil), at: 90)
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 120)
        script.add(.unknown, at: 150)
        script.add(.reachable, at: 160)
        #expect(script.timeline(now: 200).shown == "100-120 up, 120-150 down, 150-160 unknown, 160-200 up")
    }

    @Test mutating func `a window shows what held when it began, and nothing before the first record`() {
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 120)
        #expect(script.timeline(since: 50, now: 160).shown == "110-120 up, 120-160 down")
        #expect(script.timeline(since: 80, now: 160).shown == "80-100 notObserved, 100-120 up, 120-160 down")
        #expect(script.timeline(since: 10, now: 160).shown == "150-160 down")
    }

    @Test mutating func `other targets do not matter, nor does what changes nothing`() {
        script.add(.reachable, at: 100)
        script.add(.notReachable, at: 110, target: "other")
        script.add(.reachable, at: 120)
        #expect(script.timeline(now: 130).shown == "100-130 up")
        #expect(script.timeline("other", now: 130).shown == "110-130 down")
        #expect(script.timeline("nobody", now: 130).shown == "")
        #expect(script.timeline("nobody", since: 30, now: 130).shown == "100-130 notObserved")
        #expect(script.log.targets == ["internet", "other"])
    }

    @Test mutating func `a daemon that was stopped is neither up nor down`() {
        script.add(.reachable, at: 100)
        script.add(.stopped, at: 120)
        script.add(.started(lastSeen: nil), at: 150)
        script.add(.reachable, at: 151)
        #expect(script.timeline(now: 160).shown == "100-120 up, 120-151 notObserved, 151-160 up")
    }

    @Test mutating func `what it was reached through is known while it was reached, and not beyond`() {
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

    @Test mutating func `a daemon that was killed is believed up to its last sign of life`() {
        script.add(.reachable, at: 100)
        script.add(.started(lastSeen: .at(130)), at: 150)
        script.add(.notReachable, at: 150)
        #expect(script.timeline(now: 160).shown == "100-130 up, 130-150 notObserved, 150-160 down")
    }

    @Test mutating func `without a sign of life, a killed daemon is believed up to its last record`() {
        script.add(.reachable, at: 100)
        script.add(.reachable, at: 110, target: "other")
        script.add(.started(lastSeen: nil), at: 150)
        #expect(script.timeline(now: 160).shown == "100-110 up, 110-160 notObserved")
    }

    @Test mutating func `a daemon that is not running now says nothing after its last sign of life`() {
        script.add(.reachable, at: 100)
        script.lastSeen(at: 140)
        #expect(script.timeline(now: 160, isRunning: false).shown == "100-140 up, 140-160 notObserved")
        #expect(script.timeline(now: 160, isRunning: true).shown == "100-160 up")
    }

    @Test mutating func `lost records make what follows unknown until the next one`() {
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

    @Test mutating func `a wall clock that was wrong until it was set does not stretch or turn time`() {
        script.boot("second", origin: 1000)
        script.add(.notReachable, at: 1005, wallClockAheadBy: -1005)
        script.add(.reachable, at: 1015, wallClockAheadBy: -1005)
        script.add(.notReachable, at: 1020)
        #expect(script.timeline(now: 1030).shown == "1005-1015 down, 1015-1020 up, 1020-1030 down")
    }

    @Test mutating func `an earlier start of the machine keeps its own times`() {
        script.add(.reachable, at: 100)
        script.add(.stopped, at: 120)
        script.boot("second", origin: 200)
        script.add(.started(lastSeen: nil), at: 210)
        script.add(.notReachable, at: 210)
        #expect(script.timeline(now: 220).shown == "100-120 up, 120-210 notObserved, 210-220 down")
    }

    @Test mutating func `times that run backwards from one start to the next are put in the file's order`() {
        script.add(.reachable, at: 500)
        script.boot("second", origin: 100)
        script.add(.notReachable, at: 150)
        #expect(script.timeline(now: 600).shown == "500-600 down")
    }

    @Test mutating func `records of the future, and damaged ones, do not trap`() {
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
