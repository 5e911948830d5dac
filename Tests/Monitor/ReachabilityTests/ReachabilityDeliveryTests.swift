internal import Dispatch
internal import Glibc
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Synchronization
internal import Testing

/// Where callbacks run, and what they may do there.
struct ReachabilityDeliveryTests {
    @Test func `callbacks run on the queue that was chosen, in order even if it is concurrent`() async throws {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        queue.setSpecific(key: key, value: 7)
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source, delivery: .queue(queue))
        let (numbers, places) = (EventLog<UInt64>(), EventLog<Int?>())
        monitor.setChangeBlock {
            numbers.append($0.sequenceNumber)
            places.append(DispatchQueue.getSpecific(key: key))
        }
        monitor.start()
        for round in 1..<100 { source.report(.reachable("eth\(round)")) }
        #expect(try await numbers.wait(for: 100) == Array(1...100))
        #expect(try await places.wait(for: 100).allSatisfy { $0 == 7 })
    }

    @Test func `callbacks run on the task executor that was chosen, in order`() async throws {
        let executor = QueueExecutor()
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source, delivery: .taskExecutor(executor))
        let (numbers, places) = (EventLog<UInt64>(), EventLog<Bool>())
        monitor.setChangeBlock {
            numbers.append($0.sequenceNumber)
            places.append(executor.isCurrent)
        }
        monitor.start()
        for round in 1..<100 { source.report(.reachable("eth\(round)")) }
        #expect(try await numbers.wait(for: 100) == Array(1...100))
        #expect(try await places.wait(for: 100).allSatisfy { $0 })
    }

    @Test func `immediate callbacks run on the thread that detected the change`() async {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source, delivery: .immediate)
        let threads = EventLog<pthread_t>()
        monitor.setChangeBlock { _ in threads.append(pthread_self()) }
        let own = await onThread {
            monitor.start()
            source.report(.reachable("eth0"))
            return pthread_self()
        }
        #expect(threads.values == [own, own])
    }

    @Test func `an observer's own queue is used, in order even if it is concurrent`() async throws {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        queue.setSpecific(key: key, value: 7)
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        let received = EventLog<UInt64>()
        monitor.notificationCenter.addObserver(
            forName: .reachabilityStateDidChange, object: monitor, queue: queue
        ) { notification in
            if DispatchQueue.getSpecific(key: key) == 7 { received.append(notification.change.sequenceNumber) }
        }
        monitor.start()
        for round in 1..<100 { source.report(.reachable("eth\(round)")) }
        #expect(try await received.wait(for: 100) == Array(1...100))
    }

    @Test(arguments: [ReachabilityDelivery.privateQueue, .immediate])
    func `a callback may do anything with its monitor`(delivery: ReachabilityDelivery) async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source, delivery: delivery)
        let (received, later) = (EventLog<ReachabilityChange>(), EventLog<NetworkReachabilityStatus>())
        monitor.setStatusChangeBlock { [unowned monitor] _ in monitor.setStatusChangeBlock(later.sink) }
        monitor.setChangeBlock { [unowned monitor] change in
            received.append(change)
            guard change.sequenceNumber == 1 else { return }
            _ = (monitor.status, monitor.state, monitor.isRunning, monitor.changes.makeAsyncIterator())
            monitor.start()
            monitor.notificationCenter.post(
                ReachabilityNotification(name: .reachabilityDidChange, object: monitor, change: change))
            monitor.stop()
            monitor.start()
        }
        monitor.start()
        try await received.wait(for: 2)
        source.report(.reachable("eth0"))
        #expect(try await received.wait(for: 3).map(\.sequenceNumber) == [1, 2, 3])
        #expect(received.values.map(\.isInitial) == [true, true, false])
        #expect(later.values == [.notReachable, .reachableViaWiFi])
    }

    @Test func `a block that sets itself again is not called for that`() async throws {
        let source = FakeSource(.away)
        let monitor = ReachabilityMonitor(source)
        let received = EventLog<UInt64>()
        @Sendable func block(_ change: ReachabilityChange) {
            received.append(change.sequenceNumber)
            monitor.setChangeBlock(block)
        }
        monitor.setChangeBlock(block)
        monitor.start()
        source.report(.reachable("eth0"))
        var last = monitor.changes.makeAsyncIterator()
        while let change = await last.next(isolation: nil), change.sequenceNumber < 2 {}
        #expect(received.values == [1, 2])
        monitor.setChangeBlock(nil)
    }

    @Test func `two callbacks that stop their monitor at the same time do not wait for each other`() async {
        let monitor = ReachabilityMonitor(FakeSource(.away))
        let both = Counter()
        let stopped = EventLog<Int>()
        let meet: @Sendable (ReachabilityMonitor) -> Void = { monitor in
            both.increment()
            for _ in 0..<10_000 where both.value < 2 { usleep(1000) }
            monitor.stop()
            stopped.append(both.value)
        }
        for label in ["one", "two"] {
            monitor.notificationCenter.addObserver(
                forName: .reachabilityDidChange, object: monitor, queue: DispatchQueue(label: label)
            ) { meet($0.object) }
        }
        monitor.start()
        #expect((try? await stopped.wait(for: 2)) == [2, 2])
    }
}

/// A task executor on a private queue.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test", attributes: .concurrent)
    private let key = DispatchSpecificKey<Bool>()

    init() { queue.setSpecific(key: key, value: true) }

    var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
