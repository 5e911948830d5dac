import ReachCore
import ReachSession
import ReachTesting
import Testing

@Suite struct ActivityIndicatorTests {
    private func at(_ milliseconds: Int64) -> BootTime { BootTime(nanoseconds: milliseconds * 1_000_000) }

    @Test func `it is shown after a second, and hidden 170 ms after the last request`() {
        var indicator = ActivityIndicator(isEnabled: true)
        #expect(indicator.requestStarted(at: at(0)) == nil && indicator.state == .delayingStart)
        #expect(indicator.deadline == at(1_000))
        #expect(indicator.advance(to: at(999)) == nil && !indicator.isVisible)
        #expect(indicator.advance(to: at(1_000)) == true && indicator.state == .active && indicator.deadline == nil)
        #expect(indicator.requestEnded(at: at(5_000)) == nil && indicator.state == .delayingEnd)
        #expect(indicator.deadline == at(5_170) && indicator.isVisible)
        #expect(indicator.advance(to: at(5_169)) == nil)
        #expect(indicator.advance(to: at(5_170)) == false && indicator.state == .notActive && indicator.deadline == nil)
    }

    @Test func `a request that is over within a second is never shown`() {
        var indicator = ActivityIndicator(isEnabled: true)
        #expect(indicator.requestStarted(at: at(0)) == nil)
        #expect(indicator.requestEnded(at: at(500)) == nil && indicator.state == .delayingStart)
        #expect(indicator.advance(to: at(1_000)) == nil && indicator.state == .notActive)
    }

    @Test func `the start delay ignores changes, and does not restart`() {
        var indicator = ActivityIndicator(isEnabled: true)
        _ = indicator.requestStarted(at: at(0))
        _ = indicator.requestEnded(at: at(900))
        #expect(indicator.requestStarted(at: at(950)) == nil)
        #expect(indicator.advance(to: at(1_000)) == true)
    }

    @Test func `a request during the end delay returns to active at once, without a change`() {
        var indicator = ActivityIndicator(isEnabled: true)
        _ = indicator.requestStarted(at: at(0))
        _ = indicator.advance(to: at(1_000))
        _ = indicator.requestEnded(at: at(2_000))
        #expect(
            indicator.requestStarted(at: at(2_100)) == nil && indicator.state == .active && indicator.deadline == nil)
        #expect(indicator.advance(to: at(2_170)) == nil && indicator.isVisible)
        _ = indicator.requestEnded(at: at(3_000))
        #expect(indicator.deadline == at(3_170))
    }

    @Test func `testThatIndicatorBlockIsOnlyCalledOnceEachForStartAndEndForMultipleRequests`() {
        var indicator = ActivityIndicator(startDelay: .seconds(1), endDelay: .seconds(1), isEnabled: true)
        var changes: [Bool?] = [indicator.requestStarted(at: at(0)), indicator.requestStarted(at: at(10))]
        changes += [
            indicator.advance(to: at(1_000)), indicator.requestEnded(at: at(2_000)), indicator.advance(to: at(3_500)),
        ]
        changes += [
            indicator.requestEnded(at: at(4_000)), indicator.advance(to: at(5_000)), indicator.advance(to: at(9_000)),
        ]
        #expect(changes.compactMap(\.self) == [true, false])
    }

    @Test func `testThatNetworkActivityIndicatorTurnsOnAndOffIndicatorWhenRequestSucceeds, without delays`() {
        var indicator = ActivityIndicator(startDelay: .zero, endDelay: .zero, isEnabled: true)
        _ = indicator.requestStarted(at: at(0))
        #expect(indicator.advance(to: at(0)) == true)
        _ = indicator.requestEnded(at: at(1))
        #expect(indicator.advance(to: at(1)) == false)
    }

    @Test func `testThatNetworkActivityIsNotTouchedWhenManagerDisabled, and requests are still counted`() {
        var indicator = ActivityIndicator()
        #expect(indicator.requestStarted(at: at(0)) == nil && indicator.deadline == nil)
        #expect(indicator.activityCount == 1)
        #expect(indicator.setEnabled(true, at: at(10)) == nil && indicator.state == .notActive)
        #expect(indicator.requestStarted(at: at(20)) == nil && indicator.state == .delayingStart)
        _ = indicator.advance(to: at(1_020))
        #expect(indicator.setEnabled(false, at: at(2_000)) == false && indicator.deadline == nil)
        #expect(indicator.setEnabled(false, at: at(2_001)) == nil)
    }

    @Test func `more ends than starts do not count`() {
        var indicator = ActivityIndicator(isEnabled: true)
        _ = indicator.requestEnded(at: at(0))
        _ = indicator.requestEnded(at: at(0))
        #expect(indicator.activityCount == 0)
        _ = indicator.requestStarted(at: at(0))
        #expect(indicator.activityCount == 1 && indicator.state == .delayingStart)
    }

    @Test func `a late call gives the same result as one in time`() {
        var late = ActivityIndicator(isEnabled: true)
        _ = late.requestStarted(at: at(0))
        #expect(late.requestEnded(at: at(4_000)) == true && late.state == .delayingEnd && late.deadline == at(4_170))
        #expect(late.requestStarted(at: at(6_000)) == false && late.state == .delayingStart)
    }

    @Test func `for random requests show and hide alternate, and it is hidden at rest`() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<300 {
            var indicator = ActivityIndicator(isEnabled: true)
            var now: Int64 = 0
            var isShown = false
            for _ in 0..<100 {
                now += Int64.random(in: 0...600, using: &generator)
                let change =
                    switch Int.random(in: 0..<3, using: &generator) {
                    case 0: indicator.requestStarted(at: at(now))
                    case 1: indicator.requestEnded(at: at(now))
                    default: indicator.advance(to: at(now))
                    }
                if let change {
                    #expect(change != isShown)
                    isShown = change
                }
                #expect(indicator.isVisible == isShown)
            }
            while indicator.activityCount > 0 { _ = indicator.requestEnded(at: at(now)) }
            for step in [1_000, 2_000] as [Int64] { _ = indicator.advance(to: at(now + step)) }
            #expect(indicator.state == .notActive && indicator.deadline == nil)
        }
    }
}
