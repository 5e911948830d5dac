import ReachCore
import Testing

@Suite struct SleepDetectorTests {
    // peers 72
    @Test func `a machine that slept is told once, with how long`() {
        var detector = SleepDetector(offset: .seconds(10))
        #expect(detector.look(offset: .seconds(10)) == nil)
        #expect(detector.look(offset: .seconds(3610)) == .seconds(3600))
        #expect(detector.look(offset: .seconds(3610)) == nil)
        #expect(detector.look(offset: .seconds(3612)) == .seconds(2))
    }

    // peers 72
    @Test func `reading two clocks one after the other is no sleep, however often it is done`() {
        var detector = SleepDetector(offset: .seconds(10))
        for milliseconds in [0, 100, -100, 50, 99, 0] {
            #expect(detector.look(offset: .seconds(10) + .milliseconds(milliseconds)) == nil)
        }
        #expect(detector.look(offset: .seconds(10) + .milliseconds(101)) == .milliseconds(101))
    }

    // peers 72
    @Test func `short sleeps add up to what was slept`() {
        var detector = SleepDetector(offset: .zero)
        var told = Duration.zero
        for nap in 1...100 { told += detector.look(offset: .milliseconds(60 * nap)) ?? .zero }
        #expect(told == .seconds(6))
    }
}
