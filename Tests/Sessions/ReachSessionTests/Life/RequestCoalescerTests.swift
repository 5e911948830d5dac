import ReachSession
import ReachTesting
import Testing

/// Cases taken from AFImageDownloader have the names of its tests.
@Suite struct RequestCoalescerTests {
    private typealias Coalescer = RequestCoalescer<String, Int>

    @Test func `testThatSimultaneouslyRequestsForTheSameAssetReceiveSameResponse`() {
        var coalescer = Coalescer()
        let first = coalescer.ask("png", 1), second = coalescer.ask("png", 2)
        guard case .start(let request) = first.outcome else {
            Issue.record("not started")
            return
        }
        #expect(second.outcome == .joined(request) && first.receipt != second.receipt)
        let (waiters, next) = coalescer.finish(request)
        #expect(waiters == [1, 2] && next == nil && coalescer.runningCount == 0)
    }

    @Test func `testThatItCanDownloadMultipleImagesSimultaneously, four at a time, the rest in turn`() {
        var coalescer = Coalescer()
        let outcomes = (0..<6).map { coalescer.ask("\($0)", $0).outcome }
        let started = outcomes.compactMap { if case .start(let request) = $0 { request } else { nil } }
        #expect(started.map(\.key) == ["0", "1", "2", "3"] && coalescer.queuedCount == 2)
        #expect(coalescer.finish(started[2]).start?.key == "4")
        #expect(coalescer.finish(started[0]).start?.key == "5")
        #expect(coalescer.finish(started[1]).start == nil && coalescer.runningCount == 3)
    }

    @Test func `the newest request can start first`() {
        var coalescer = Coalescer(limit: 1, order: .lastInFirstOut)
        guard case .start(let running) = coalescer.ask("a", 0).outcome else {
            Issue.record("not started")
            return
        }
        _ = (coalescer.ask("b", 1), coalescer.ask("c", 2))
        #expect(coalescer.finish(running).start?.key == "c")
    }

    @Test func `testThatCancellingDownloadCallsCompletionWithCancellationError`() {
        var coalescer = Coalescer(limit: 1)
        let receipt = coalescer.ask("a", 7).receipt
        let cancelled = coalescer.cancel(receipt)
        #expect(cancelled?.waiter == 7 && cancelled?.dropped?.key == "a" && coalescer.runningCount == 0)
        #expect(coalescer.cancel(receipt) == nil)
    }

    @Test func `testThatCancellingDownloadWithMultipleResponseHandlersCancelsFirstYetAllowsSecondToComplete`() {
        var coalescer = Coalescer()
        let first = coalescer.ask("a", 1)
        _ = coalescer.ask("a", 2)
        #expect(coalescer.cancel(first.receipt)?.waiter == 1)
        guard case .start(let request) = first.outcome else {
            Issue.record("not started")
            return
        }
        #expect(coalescer.finish(request).waiters == [2])
    }

    @Test func `a running request is dropped with its last caller, and the next one starts`() {
        var coalescer = Coalescer(limit: 1)
        let first = coalescer.ask("a", 1)
        guard case .start(let request) = first.outcome, case .queued(let next) = coalescer.ask("b", 2).outcome else {
            Issue.record("not started and queued")
            return
        }
        #expect(coalescer.isRunning(request) && !coalescer.isRunning(next))
        let cancelled = coalescer.cancel(first.receipt)
        #expect(cancelled?.dropped == request && cancelled?.start == next)
        #expect(!coalescer.isRunning(request) && coalescer.isRunning(next) && coalescer.runningCount == 1)
        // A later caller gets a request of its own, and no answer of the dropped one.
        guard case .queued(let again) = coalescer.ask("a", 3).outcome else {
            Issue.record("not queued")
            return
        }
        #expect(again != request && coalescer.finish(request).waiters.isEmpty)
    }

    @Test
    func `testThatItCanDownloadAndCancelAndDownloadAgain: a queued request without callers is dropped`() {
        var coalescer = Coalescer(limit: 1)
        guard case .start(let running) = coalescer.ask("a", 1).outcome else {
            Issue.record("not started")
            return
        }
        let waiting = coalescer.ask("b", 2)
        guard case .queued(let old) = waiting.outcome else {
            Issue.record("not queued")
            return
        }
        #expect(coalescer.cancel(waiting.receipt)?.dropped == old && coalescer.queuedCount == 0)
        guard case .queued(let new) = coalescer.ask("b", 3).outcome else {
            Issue.record("not queued")
            return
        }
        #expect(new != old)
        #expect(coalescer.finish(running).start == new)
        // The answer of the dropped request reaches no caller.
        #expect(coalescer.finish(old).waiters.isEmpty && coalescer.runningCount == 1)
        #expect(coalescer.finish(new).waiters == [3])
        #expect(coalescer.finish(new).waiters.isEmpty && coalescer.runningCount == 0)
    }

    @Test func `testThatReceiptIDMatchesReturnedID: a receipt has its request's key, and is unique`() {
        var coalescer = Coalescer()
        let receipts = (0..<10).map { coalescer.ask("\($0 % 2)", $0).receipt }
        #expect(Set(receipts).count == 10 && receipts[3].key == "1")
    }

    @Test func `for random calls each caller is answered once, and the limit holds`() {
        var generator = SeededGenerator(seed: 31)
        for round in 0..<200 {
            var coalescer = Coalescer(limit: 3, order: round % 2 == 0 ? .firstInFirstOut : .lastInFirstOut)
            var running: [Coalescer.Request] = []
            var receipts: [Coalescer.Receipt] = []
            var answered: [Int] = []
            for number in 0..<100 {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    let (receipt, outcome) = coalescer.ask("\(Int.random(in: 0..<8, using: &generator))", number)
                    receipts.append(receipt)
                    if case .start(let request) = outcome { running.append(request) }
                case 2 where !receipts.isEmpty:
                    guard let cancelled = coalescer.cancel(generator.pick(receipts)) else { continue }
                    answered.append(cancelled.waiter)
                    running.removeAll { $0 == cancelled.dropped }
                    if let start = cancelled.start { running.append(start) }
                default:
                    guard let request = running.popLast() else { continue }
                    let (waiters, start) = coalescer.finish(request)
                    answered += waiters
                    if let start { running.append(start) }
                }
                #expect(coalescer.runningCount == running.count && running.count <= 3)
            }
            while let request = running.popLast() {
                let (waiters, start) = coalescer.finish(request)
                answered += waiters
                if let start { running.append(start) }
            }
            #expect(answered.count == receipts.count && Set(answered).count == answered.count)
            #expect(coalescer.queuedCount == 0)
        }
    }
}
