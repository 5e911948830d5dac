internal import Dispatch
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// Nothing comes after the end, whatever was on its way.
struct ReachabilityStopTests {
    @Test func `after stop nothing that was queued is called, and a new start begins with an initial change`()
        async throws
    {  // A.9
        let queue = DispatchQueue(label: "test")
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(source, delivery: .queue(queue))
        let changes = EventLog<ReachabilityChange>()
        let notifications = EventLog<ReachabilityNotification>()
        monitor.setChangeBlock(changes.sink)
        monitor.notificationCenter.addObserver(forName: nil, object: monitor, using: notifications.sink)
        queue.suspend()
        monitor.start()
        source.see(.away)
        monitor.stop()
        queue.resume()
        await onThread { queue.sync {} }
        #expect(changes.values.isEmpty)
        #expect(notifications.values.isEmpty)
        #expect(monitor.status == .notReachable)
        #expect(monitor.state.isStale)

        monitor.start()
        let told = try await changes.wait(for: 1)
        #expect(told.map(\.isInitial) == [true])
        #expect(told.map(\.sequenceNumber) == [3])
        #expect(!monitor.state.isStale)
    }

    @Test func `stop waits for a callback that runs on another thread`() async {  // A.9
        let monitor = ReachabilityMonitor(FakeSource(.away))
        let (entered, stopping) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let returns = Counter()
        monitor.setStatusChangeBlock { _ in
            entered.signal()
            _ = stopping.waitAWhile()
            // Long enough for a stop that does not wait to return.
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.1)
            returns.increment()
        }
        monitor.start()
        let hadReturned = await onThread {
            #expect(entered.waitAWhile())
            stopping.signal()
            monitor.stop()
            return returns.value == 1
        }
        #expect(hadReturned)
    }

    @Test func `an observer's queue is no way around stop`() async throws {  // A.9
        let queue = DispatchQueue(label: "test")
        let monitor = ReachabilityMonitor(FakeSource(.away))
        let (late, prompt) = (EventLog<ReachabilityNotification>(), EventLog<ReachabilityNotification>())
        monitor.notificationCenter.addObserver(forName: nil, object: monitor, queue: queue, using: late.sink)
        monitor.notificationCenter.addObserver(forName: .reachabilityDidChange, object: monitor, using: prompt.sink)
        queue.suspend()
        monitor.start()
        try await prompt.wait(for: 1)
        monitor.stop()
        queue.resume()
        await onThread { queue.sync {} }
        #expect(late.values.isEmpty)
    }

    @Test func `stopped in its block, a monitor tells its observers and sequences nothing`() async throws {  // A.12
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        let notifications = EventLog<ReachabilityNotification>()
        var sequence = monitor.changes.makeAsyncIterator()
        monitor.setStatusChangeBlock { [unowned monitor] _ in monitor.stop() }
        monitor.notificationCenter.addObserver(forName: nil, object: monitor, using: notifications.sink)
        monitor.start()
        #expect(await sequence.next(isolation: nil) == nil)
        #expect(notifications.values.isEmpty)
        #expect(source.count == 0)
    }

    @Test func `stop ends sequences at once, and those that begin afterwards await the next start`() async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        var before = monitor.changes.makeAsyncIterator()
        monitor.start()
        #expect(await before.next(isolation: nil)?.state.status == .notReachable)
        source.see(.reachable("eth0"))
        monitor.stop()
        #expect(await before.next(isolation: nil) == nil)
        var after = monitor.changes.makeAsyncIterator()
        monitor.start()
        let first = try #require(await after.next(isolation: nil))
        #expect(first.isInitial)
        #expect(first.state.status == .reachable)
    }

    @Test func `a cancelled task ends its iteration, and frees the monitor`() async throws {
        let source = FakeSource(.away)
        let begun = EventLog<ReachabilityChange>()
        let task = Task {
            let monitor = ReachabilityMonitor(source)
            monitor.start()
            for await change in monitor.changes { begun.append(change) }
        }
        try await begun.wait(for: 1)
        #expect(source.count == 1)
        task.cancel()
        await task.value
        #expect(source.count == 0)
    }

    @Test func `a slow consumer keeps the newest changes, and sees the gap`() async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        let told = EventLog<UInt64>()
        monitor.start()
        var iterator = monitor.changes.makeAsyncIterator()
        #expect(await iterator.next(isolation: nil)?.sequenceNumber == 1)
        let counting = Task { for await change in monitor.changes { told.append(change.sequenceNumber) } }
        for round in 0..<300 { source.see(.reachable("eth\(round % 2)")) }
        try await told.wait { $0.last == 301 }
        let next = try #require(await iterator.next(isolation: nil))
        // 300 came, 256 were kept.
        #expect(next.sequenceNumber == 46)
        counting.cancel()
    }

    @Test func `waiting ends with the state that was waited for, in force or to come`() async {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        monitor.start()
        #expect(await monitor.wait { $0.status == .notReachable }?.reason == .noRoute)
        async let arrival = monitor.wait(until: \.isReachable)
        source.see(.reachable("eth0"))
        #expect(await arrival?.interface == "eth0")
        let never = Task { await monitor.wait { $0.linkClass == .wwan } }
        never.cancel()
        #expect(await never.value == nil)
    }

    @Test func `letting go of a monitor ends its watch, and nothing is called afterwards`() async throws {  // A.11
        let source = FakeSource(.away)
        let changes = EventLog<ReachabilityChange>()
        let gone: Weak
        do {
            let monitor = ReachabilityMonitor(source)
            monitor.setChangeBlock(changes.sink)
            monitor.start()
            gone = Weak(monitor)
            #expect(source.count == 1)
            try await changes.wait(for: 1)
        }
        // The thread that told of the first change may hold it a moment longer.
        #expect(await becomesTrue { gone.monitor == nil })
        #expect(source.count == 0)
        source.see(.reachable("eth0"))
        #expect(changes.values.count == 1)
    }

    @Test func `letting go while changes come in is harmless`() async {  // A.11
        let source = FakeSource(.away)
        let (isOver, calls) = (Counter(), Counter())
        async let changing: Void = onThread {
            var round = 0
            while isOver.value == 0 {
                round += 1
                source.see(.reachable("eth\(round % 2)"))
            }
        }
        await onThread {
            for round in 0..<200 {
                let delivery: ReachabilityDelivery = round.isMultiple(of: 2) ? .immediate : .privateQueue
                let monitor = ReachabilityMonitor(source, delivery: delivery)
                monitor.setChangeBlock { _ in calls.increment() }
                monitor.start()
                if round.isMultiple(of: 3) { monitor.stop() }
            }
            isOver.increment()
        }
        await changing
        #expect(await becomesTrue { source.count == 0 })
        let before = calls.value
        source.see(.reachable("eth9"))
        #expect(calls.value == before)
    }
}
