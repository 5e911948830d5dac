import ReachCore
import Testing

@testable import ReachProbe

@Suite struct UptimeMeterTests {
    private static func at(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    /// Seconds of ok, fail, paused and inconclusive.
    private static func seconds(_ uptime: ProbeUptime) -> [Int64] {
        [uptime.ok, uptime.fail, uptime.paused, uptime.inconclusive].map(\.components.seconds)
    }

    @Test func `a result holds until the next one, and nothing is known before the first`() {
        var meter = UptimeMeter(at: Self.at(100))
        #expect(Self.seconds(meter.uptime(at: Self.at(103))) == [0, 0, 0, 3])
        meter.change(to: .ok, at: Self.at(105))
        meter.change(to: .fail, at: Self.at(125))
        meter.change(to: .paused, at: Self.at(132))
        meter.change(to: .inconclusive, at: Self.at(143))
        #expect(Self.seconds(meter.uptime(at: Self.at(160))) == [20, 7, 11, 22])
        // To ask counts nothing.
        #expect(Self.seconds(meter.uptime(at: Self.at(160))) == [20, 7, 11, 22])
        meter.change(to: .ok, at: Self.at(160))
        #expect(Self.seconds(meter.uptime(at: Self.at(161))) == [21, 7, 11, 22])
    }

    @Test func `what was measured before is added to each kind`() {
        var meter = UptimeMeter(at: Self.at(0))
        var earlier = ProbeUptime()
        (earlier.ok, earlier.fail, earlier.paused) = (.seconds(1), .seconds(20), .seconds(300))
        earlier.inconclusive = .seconds(4000)
        meter.restore(earlier)
        meter.restore(earlier)
        #expect(Self.seconds(meter.uptime(at: Self.at(5))) == [2, 40, 600, 8005])
    }

    @Test func `no time is counted twice, and none is taken back`() {
        var meter = UptimeMeter(at: Self.at(100))
        meter.change(to: .ok, at: Self.at(110))
        meter.change(to: .fail, at: Self.at(105))
        #expect(Self.seconds(meter.uptime(at: Self.at(104))) == [0, 0, 0, 10])
        #expect(Self.seconds(meter.uptime(at: Self.at(112))) == [0, 2, 0, 10])
    }
}
