internal import Dispatch
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// After a stop or release there are no callbacks, not even for pending changes.
struct ReachabilityStopTests {
    @Test func `after stop no queued callback runs, and a new start begins with an initial change`() async throws {
        let queue = DispatchQueue(label: "test")
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(source, delivery: .queue(queue))
        let changes = EventLog<ReachabilityChange>()
        let notifications = EventLog<ReachabilityNotification>()
        monitor.setChangeBlock(changes.sink)
        monitor.notificationCenter.addObserver(forName: nil, object: monitor, using: notifications.sink)
        queue.suspend()
        monitor.start()
        source.report(.away)
        monitor.stop()
        queue.resume()
        await onThread { queue.sync {} }
        #expect(changes.values.isEmpty)
        #expect(notifications.values.isEmpty)
        #expect(monitor.status == .notReachable)
        #expect(monitor.state.isStale)

        monitor.start()
        let received = try await changes.wait(for: 1)
        #expect(received.map(\.isInitial) == [true])
        #expect(received.map(\.sequenceNumber) == [3])
        #expect(!monitor.state.isStale)
    }

    @Test func `stop waits for a callback that runs on another thread`() async {
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

    @Test func `stop also covers calls that wait in an observer's queue`() async throws {
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

    @Test func `a monitor that is stopped in its block calls no observer and ends its sequences`() async throws {
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
        source.report(.reachable("eth0"))
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
        // The task may release its monitor after its value is there.
        #expect(try await source.countsAfterEnd.wait(for: 1) == [0])
    }

    @Test func `a slow consumer keeps the newest changes, and sees the gap`() async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        let received = EventLog<UInt64>()
        monitor.start()
        var iterator = monitor.changes.makeAsyncIterator()
        #expect(await iterator.next(isolation: nil)?.sequenceNumber == 1)
        let counting = Task { for await change in monitor.changes { received.append(change.sequenceNumber) } }
        for round in 0..<300 { source.report(.reachable("eth\(round % 2)")) }
        try await received.wait { $0.last == 301 }
        let next = try #require(await iterator.next(isolation: nil))
        // 300 came, 256 were kept.
        #expect(next.sequenceNumber == 46)
        counting.cancel()
    }

    @Test func `waiting ends with a state that meets the condition, the current or a later one`() async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        monitor.start()
        #expect(try await monitor.wait { $0.status == .notReachable }?.reason == .noRoute)
        async let arrival = monitor.wait(until: \.isReachable)
        source.report(.reachable("eth0"))
        #expect(try await arrival?.interface == "eth0")
        let looks = EventLog<ReachabilityState>()
        async let never = monitor.wait { state in
            looks.append(state)
            return false
        }
        // What begins to wait after the stop waits for the next start.
        try await looks.wait(for: 1)
        monitor.stop()
        #expect(try await never == nil)
    }

    @Test func `waiting throws CancellationError where its task was cancelled, and nothing else`() async {
        let monitor = ReachabilityMonitor(FakeSource(.away))
        monitor.start()
        let never = Task { try await monitor.wait { $0.linkClass == .wwan } }
        never.cancel()
        await #expect(throws: CancellationError.self) { try await never.value }
    }

    @Test func `releasing a monitor ends its watch, and no callback follows`() async throws {
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
        // The thread that delivered the first change may hold the monitor a moment longer.
        #expect(await becomesTrue { gone.monitor == nil })
        #expect(source.count == 0)
        source.report(.reachable("eth0"))
        #expect(changes.values.count == 1)
    }

    @Test func `releasing a monitor while changes come in is harmless`() async {
        let source = FakeSource(.away)
        let (isOver, calls) = (Counter(), Counter())
        async let changing: Void = onThread {
            var round = 0
            while isOver.value == 0 {
                round += 1
                source.report(.reachable("eth\(round % 2)"))
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
        source.report(.reachable("eth9"))
        #expect(calls.value == before)
    }
}
