import ReachCore
import Testing

@testable import ReachProbe

@Suite struct TrafficWatchTests {
    private static func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    /// A watch that has begun its sample number 1.
    private static func started() -> TrafficWatch {
        var watch = TrafficWatch(longestGap: .seconds(5))
        watch.start(at: at(0))
        watch.begin(1)
        return watch
    }

    @Test func `one sample is due a second after the start, and none while one runs or after the end`() {
        var watch = TrafficWatch(longestGap: .seconds(5))
        #expect(watch.nextSample == nil && watch.ticket == nil)
        watch.start(at: Self.at(10))
        #expect(watch.nextSample == Self.at(11))
        watch.start(at: Self.at(20))
        #expect(watch.nextSample == Self.at(11))
        watch.begin(7)
        #expect(watch.nextSample == nil && watch.ticket == 7)
        watch.start(at: Self.at(20))
        #expect(watch.nextSample == nil)
        _ = watch.end(sawTraffic: false, after: .milliseconds(1), at: Self.at(12))
        #expect(watch.nextSample == Self.at(13) && watch.ticket == nil)
        watch.begin(8)
        watch.stop()
        #expect(watch.nextSample == nil && watch.ticket == nil)
    }

    @Test func `a sample that took long is followed by a rest of twenty times as long`() {
        var watch = Self.started()
        _ = watch.end(sawTraffic: false, after: .milliseconds(50), at: Self.at(1))
        #expect(watch.nextSample == Self.at(2))
        _ = watch.end(sawTraffic: false, after: .milliseconds(100), at: Self.at(2))
        #expect(watch.nextSample == Self.at(4))
    }

    @Test func `only the beginning of traffic is a reason for a check`() {
        var watch = Self.started()
        let seen = [true, true, false, false, true, true, false, true].map { sawTraffic in
            watch.end(sawTraffic: sawTraffic, after: .zero, at: Self.at(1))
        }
        // Traffic in the first sample may have begun before.
        #expect(seen == [false, false, false, false, true, false, false, true])
    }

    @Test func `each check that failed delays the next one that traffic causes, up to a limit, until one succeeds`() {
        var watch = Self.started()
        var now = 1.0
        func causes(_ sawTraffic: Bool, at seconds: Double) -> Bool {
            watch.end(sawTraffic: sawTraffic, after: .zero, at: Self.at(seconds))
        }
        for gap in [2.0, 4, 5, 5] {
            #expect(!causes(false, at: now))
            #expect(causes(true, at: now))
            watch.probeEnded(isBroken: true, at: Self.at(now))
            #expect(!causes(false, at: now))
            // Traffic that begins too early causes one later, if it lasts.
            #expect(!causes(true, at: now + gap - 0.1))
            now += gap
        }
        #expect(causes(true, at: now))
        watch.probeEnded(isBroken: false, at: Self.at(now))
        // What goes on is no beginning.
        #expect(!causes(true, at: now))
        #expect(!causes(false, at: now))
        #expect(causes(true, at: now))
        watch.probeEnded(isBroken: true, at: Self.at(now))
        #expect(watch.trigger(at: Self.at(now)) == Self.at(now + 2))
    }

    @Test func `a check for another reason delays none, and an answer counts as traffic`() {
        var watch = Self.started()
        watch.probeEnded(isBroken: true, at: Self.at(1))
        #expect(watch.trigger(at: Self.at(1)) == Self.at(1))
        watch.probeEnded(isBroken: true, at: Self.at(1))
        #expect(watch.trigger(at: Self.at(1)) == Self.at(3))
        #expect(watch.trigger(at: Self.at(4)) == Self.at(4))
    }
}
