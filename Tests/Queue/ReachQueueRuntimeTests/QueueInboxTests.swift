import ReachCore
import ReachQueue
import Testing

@testable import ReachQueueRuntime

@Suite struct QueueInboxTests {
    @Test func `inputs are taken together, and those that come meanwhile follow in the same turn`() {
        var inbox = QueueInbox()
        var begun = [inbox.begins()]
        inbox.append(.wake)
        inbox.append(.wake)
        begun.append(inbox.begins())
        var counts = [inbox.next()?.count]
        inbox.append(.wake)
        begun.append(inbox.begins())
        #expect(begun == [false, true, false], "there is nothing, there are two, and the scheduler is deciding")
        counts += [inbox.next()?.count, inbox.next()?.count]
        #expect(counts == [2, 1, nil])
        #expect(!inbox.isBusy)
    }

    @Test func `the end of a turn is waited for once, and half of few attempts do not wait for it`() {
        var inbox = QueueInbox()
        var postponed = [inbox.postpones(), inbox.postpones()]
        inbox.turnEnded()
        postponed.append(inbox.postpones())
        #expect(postponed == [true, false, true])
        var ends: [Bool] = []
        for running in [6, 6, 6, 6, 17] { ends.append(inbox.endsHalf(of: running)) }
        #expect(ends == [false, false, true, true, false], "of many there is enough to do")
    }

    @Test func `the store is woken before the loop sleeps, or at once for half of what runs`() {
        var waking = StoreWaking()
        var times = [waking.next(ofRunning: 4)]
        waking.noteWork()
        times.append(waking.next(ofRunning: 4))
        for _ in 0..<2 {
            waking.noteWork()
            waking.noteEnd()
            times.append(waking.next(ofRunning: 4))
        }
        waking.hasWoken()
        waking.noteWork()
        times.append(waking.next(ofRunning: 4))
        #expect(times == [nil, .beforeSleep, nil, .now, .beforeSleep])
    }

    @Test func `before all is restored only what concerns no other request is handled`() {
        var restoring = QueueRestoring()
        var admitted = [restoring.admits(.wake)]
        restoring.isOpen = true
        admitted += [restoring.admits(.wake), restoring.admits(.holdQueue(.root, 7))]
        #expect(admitted == [false, true, false])
        #expect(restoring.waitingTickets == [7])
        var early = [restoring.nextEarly().count]
        var seen: [Int64] = []
        var waits: [Bool] = []
        for id in [3, 9] as [Int64] { waits.append(restoring.waits(for: id) { seen.append(id) }) }
        for work in restoring.setRestored(upTo: 5) { work() }
        waits.append(restoring.waits(for: 5) {})
        #expect(waits == [true, true, false] && seen == [3])
        for work in restoring.setRestored(upTo: .max) { work() }
        early.append(restoring.nextEarly().count)
        #expect(seen == [3, 9] && early == [1, 1])
    }
}
