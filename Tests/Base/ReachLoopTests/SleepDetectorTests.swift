import ReachLoop
import Testing

@Suite struct SleepDetectorTests {
    @Test func `sleep is reported once, with its length`() {
        var detector = SleepDetector(offset: .seconds(10))
        #expect(detector.update(offset: .seconds(10)) == nil)
        #expect(detector.update(offset: .seconds(3610)) == .seconds(3600))
        #expect(detector.update(offset: .seconds(3610)) == nil)
        #expect(detector.update(offset: .seconds(3612)) == .seconds(2))
    }

    @Test func `the delay between reading two clocks is no sleep, however often it happens`() {
        var detector = SleepDetector(offset: .seconds(10))
        for milliseconds in [0, 100, -100, 50, 99, 0] {
            #expect(detector.update(offset: .seconds(10) + .milliseconds(milliseconds)) == nil)
        }
        #expect(detector.update(offset: .seconds(10) + .milliseconds(101)) == .milliseconds(101))
    }

    @Test func `short sleeps add up`() {
        var detector = SleepDetector(offset: .zero)
        var total = Duration.zero
        for nap in 1...100 { total += detector.update(offset: .milliseconds(60 * nap)) ?? .zero }
        #expect(total == .seconds(6))
    }
}
