import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct RunningAttemptsTests {
    private var attempts: RunningAttempts
    private var number: Int32 = 0

    init() {
        var policy = QueuePolicy()
        policy.slots.all = 4
        policy.slots.interface = 3
        policy.slots.modem = 1
        attempts = RunningAttempts(FixedPolicy(policy, seed: 1), at: .at(0))
    }

    private mutating func begin(of owner: UInt32, by path: QueuePath = .wired) {
        number += 1
        attempts.begin(
            RunningAttempt(
                slot: Slot(rawValue: number), owner: owner, id: RequestID(rawValue: Int64(number)), number: 1,
                path: path,
                channel: attempts.channel(for: path), epoch: 1, isCanary: false, isTrial: false, phase: .sending))
    }

    @Test mutating func `slots are counted for all, for the channel and for the user`() {
        let channel = attempts.channel(for: .wired)
        attempts.moveGroup(from: nil, to: channel)
        for owner in [7, 7, 8] { begin(of: UInt32(owner)) }
        #expect(attempts.isFull(channel) && !attempts.isFull && attempts.room == 1)
        #expect(attempts.counts(in: channel) == [7: 2, 8: 1] && attempts.share(of: 7).running == 2)
        #expect(attempts.share(of: 8).precedes(attempts.share(of: 7)))
        begin(of: 8, by: .wifi)
        #expect(attempts.isFull && attempts.share(of: 7).precedes(attempts.share(of: 8)))
        let ended = attempts.end(0)
        #expect(ended.owner == 7 && attempts.share(of: 7).running == 1 && !attempts.isFull(channel))
    }

    @Test mutating func `an interface has one channel, while a group or an attempt uses it`() {
        let wired = attempts.channel(for: .wired)
        attempts.moveGroup(from: nil, to: wired)
        #expect(attempts.channel(for: .wired) == wired)
        begin(of: 7)
        attempts.moveGroup(from: wired, to: nil)
        let wwan = attempts.channel(for: .wwan)
        #expect(wwan != wired)
        attempts.moveGroup(from: nil, to: wwan)
        _ = attempts.end(0)
        #expect(attempts.channel(for: .wifi) == wired)
        begin(of: 7, by: .wwan)
        #expect(attempts.isFull(wwan))
    }

    @Test mutating func `a channel that nothing uses any more leaves its place to the next interface`() {
        for number in 0..<6 as Range<UInt32> {
            let path = QueuePath.path(10 + number, "eth\(number)", .wired)
            if number % 2 == 0 {
                let channel = attempts.channel(for: path)
                attempts.moveGroup(from: nil, to: channel)
                attempts.moveGroup(from: channel, to: nil)
            } else {
                begin(of: 7, by: path)
                _ = attempts.end(0)
            }
        }
        #expect(attempts.channelCapacity == 1)
        attempts.forget(7)
        #expect(leftovers(in: attempts) == [])
    }

    @Test mutating func `an interface that a modem carries from now on bears what a modem bears`() {
        begin(of: 7)
        let channel = attempts.channel(for: .wired)
        #expect(!attempts.isFull(channel))
        #expect(attempts.channel(for: .path(2, "eth0", .wwan)) == channel && attempts.isFull(channel))
        #expect(attempts.channel(for: .wired) == channel && !attempts.isFull(channel))
    }

    @Test mutating func `after a user had to wait, the last slot stays for those who have less`() {
        begin(of: 7)
        begin(of: 7)
        let channel = attempts.channel(for: .wired)
        #expect(attempts.hasRoom(channel, for: 7, at: .at(1)))
        attempts.keepLastSlot(until: .at(60))
        #expect(!attempts.hasRoom(channel, for: 7, at: .at(1)) && attempts.hasRoom(channel, for: 8, at: .at(1)))
        #expect(attempts.hasRoom(channel, for: 7, at: .at(61)))
    }

    @Test mutating func `then the last slot of all stays for those who have less, and earlier ones for anybody`() {
        for _ in 0..<2 { begin(of: 7) }
        attempts.keepLastSlot(until: .at(60))
        let (wifi, modem) = (attempts.channel(for: .wifi), attempts.channel(for: .wwan))
        #expect(attempts.room == 2 && attempts.hasRoom(wifi, for: 7, at: .at(1)))
        begin(of: 7, by: .wifi)
        #expect(attempts.room == 1)
        for channel in [wifi, modem] {
            #expect(!attempts.hasRoom(channel, for: 7, at: .at(1)) && attempts.hasRoom(channel, for: 8, at: .at(1)))
            #expect(attempts.hasRoom(channel, for: 7, at: .at(60)))
        }
    }

    @Test mutating func `a judged attempt occupies no slot until it is regained`() throws {
        begin(of: 7)
        let attempt = attempts.end(0)
        attempts.setJudged(attempt)
        #expect(attempts.isEmpty && attempts.judgedSlots == [attempt.slot])
        let judged = attempts.endJudgement(attempt.slot)
        attempts.regain(try #require(judged))
        #expect(attempts.count == 1 && attempts.share(of: 7).running == 1 && attempts.judgedSlots.isEmpty)
        #expect(attempts.index(at: attempt.slot) == 0 && attempts.index(of: attempt.id) == 0)
    }

    @Test mutating func `new requests and the backlog of a priority take turns`() {
        var share = OwnerShare()
        func order(_ share: OwnerShare) -> [StartClass] {
            let order = share.order(of: .normal)
            return order.indices.map { order[$0] }
        }
        #expect(order(share) == [.fresh, .backlog, .retry])
        share.served(.fresh, of: .normal)
        #expect(order(share) == [.backlog, .retry, .fresh])
        share.served(.backlog, of: .normal)
        #expect(order(share) == [.fresh, .retry, .backlog])
    }
}

@Suite struct AdmissionStateTests {
    private var admission = AdmissionState(FixedPolicy(QueuePolicy(), seed: 1), at: .at(0))

    @Test mutating func `starts are spaced for a while after an outage, and not after none`() {
        admission.space(after: .zero, first: .at(1))
        #expect(!admission.isSpaced(at: .at(1)))
        admission.space(after: .seconds(100), first: .at(1))
        #expect(admission.isSpaced(at: .at(1)) && admission.pause(at: .at(1)) == nil)
        admission.started(at: .at(1))
        #expect(admission.pause(at: .at(1)) == .at(1) + QueuePolicy().starts.spacing)
        #expect(!admission.isSpaced(at: .at(12)) && admission.pause(at: .at(12)) == nil)
    }

    @Test mutating func `the earliest of several times counts, until the next admission`() {
        admission.retry(at: .at(9))
        admission.retry(at: .at(5))
        admission.retry(at: .at(7))
        #expect(admission.retryAt == .at(5))
        admission.begin()
        #expect(admission.retryAt == nil)
    }

    @Test mutating func `lines that wait for a preparation are resumed once`() {
        let destination = DestinationIndex(rawValue: 3)
        admission.awaitPreparation(at: destination)
        #expect(admission.endAwaiting() == [destination] && admission.endAwaiting().isEmpty)
        #expect(admission.isRegistered(nil) && !admission.isRegistered("api"))
        admission.setInterceptors(["api"])
        #expect(admission.isRegistered("api"))
    }
}
