import ReachCore
import Testing

@testable import ReachTransfer

/// Which timeout comes when: no clock, no waiting.
struct TransferTimersTests {
    private func at(_ seconds: Double) -> BootTime { BootTime(nanoseconds: Int64(seconds * 1e9)) }

    private var timeouts: TransferTimeouts {
        TransferTimeouts(connect: .seconds(10), total: .seconds(60), idle: .seconds(5), idleBytes: 100)
    }

    @Test func `the next address is tried after 250 ms, or after an equal share where one is connected`() {
        var timers = TransferTimers(timeouts, startedAt: at(0))
        timers.beginConnecting(at: at(0))
        timers.beginAddress(at: at(1), othersAfter: 2)
        #expect(timers.next == at(1.25))
        #expect(timers.expired(at: at(1.2), moved: 0) == nil)
        #expect(timers.expired(at: at(1.25), moved: 0) == .address)
        let isExtended = timers.extendAddress(at: at(4), othersAfter: 1)
        #expect(isExtended)
        #expect(timers.next == at(7))
        let isExtendedAgain = timers.extendAddress(at: at(7), othersAfter: 1)
        #expect(!isExtendedAgain)
        timers.beginAddress(at: at(7), othersAfter: 0)
        #expect(timers.next == at(10))
        #expect(timers.expired(at: at(10), moved: 0) == .connect)
        #expect(timers.timeToConnect(at: at(4)) == .seconds(6))
    }

    @Test func `once the request is being sent, only the idle and the total timeout count`() {
        var timers = TransferTimers(timeouts, startedAt: at(0))
        timers.beginConnecting(at: at(0))
        timers.beginExchange(at: at(2), moved: 0)
        #expect(timers.next == at(7))
        #expect(timers.expired(at: at(7), moved: 100) == nil)
        #expect(timers.next == at(12))
        #expect(timers.expired(at: at(12), moved: 199) == .idle)
    }

    @Test func `the total timeout ends a transfer in any state`() {
        var timers = TransferTimers(timeouts, startedAt: at(0))
        timers.beginConnecting(at: at(55))
        #expect(timers.next == at(60))
        #expect(timers.timeToConnect(at: at(55)) == .seconds(5))
        #expect(timers.expired(at: at(60), moved: 0) == .total)
    }

    @Test func `without limits there is no timeout`() {
        var timers = TransferTimers(TransferTimeouts(connect: nil), startedAt: at(0))
        timers.beginConnecting(at: at(0))
        timers.beginAddress(at: at(0), othersAfter: 3)
        timers.beginExchange(at: at(0), moved: 0)
        #expect(timers.next == nil)
        #expect(timers.timeToConnect(at: at(0)) == nil)
        #expect(timers.expired(at: at(1_000_000), moved: 0) == nil)
    }
}
