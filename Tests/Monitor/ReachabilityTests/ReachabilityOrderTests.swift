internal import Dispatch
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import Testing

/// Which receivers get a change, in which order, and how often.
struct ReachabilityOrderTests {
    @Test func `block, then observers, then sequences: once each, with one number for all`() async throws {
        let source = FakeSource()
        let center = ReachabilityNotificationCenter()
        let monitor = ReachabilityMonitor(source, center: center)
        let log = EventLog<String>()
        monitor.setStatusChangeBlock { log.append("status \($0.rawValue)") }
        monitor.setChangeBlock { log.append("change \($0.sequenceNumber)") }
        for number in 1...2 {
            center.addObserver(forName: .reachabilityDidChange, object: monitor) { notification in
                log.append("observer \(number) of status \(notification.change.sequenceNumber)")
            }
        }
        center.addObserver(forName: .reachabilityStateDidChange) { notification in
            log.append("observer of state \(notification.change.sequenceNumber)")
        }
        var sequence = monitor.changes.makeAsyncIterator()
        monitor.start()
        source.report(.reachable("eth0"))
        source.report(.reachable("eth1"))
        source.report(.away)
        #expect(await sequence.next(isolation: nil)?.sequenceNumber == 1)
        #expect(await sequence.next(isolation: nil)?.sequenceNumber == 2)
        #expect(await sequence.next(isolation: nil)?.sequenceNumber == 3)
        // Sequences come last, so all others have been called.
        #expect(
            log.values == [
                "status 2", "change 1", "observer 1 of status 1", "observer 2 of status 1", "observer of state 1",
                "change 2", "observer of state 2",
                "status 0", "change 3", "observer 1 of status 3", "observer 2 of status 3", "observer of state 3",
            ])
    }

    @Test func `a notification has its monitor as object, and reaches no observer of another monitor`() async throws {
        let center = ReachabilityNotificationCenter()
        let (source, otherSource) = (FakeSource(), FakeSource())
        let (monitor, other) = (
            ReachabilityMonitor(source, center: center), ReachabilityMonitor(otherSource, center: center)
        )
        let (mine, others, all) = (
            EventLog<ReachabilityNotification>(), EventLog<ReachabilityNotification>(),
            EventLog<ReachabilityNotification>()
        )
        center.addObserver(forName: .reachabilityDidChange, object: monitor, using: mine.sink)
        center.addObserver(forName: .reachabilityDidChange, object: other, using: others.sink)
        center.addObserver(forName: .reachabilityDidChange, using: all.sink)
        monitor.start()
        other.start()
        source.report(.reachable("eth0"))
        otherSource.report(.away)
        let received = try await all.wait(for: 2)
        #expect(mine.values.map(\.status) == [.reachableViaWiFi])
        #expect(mine.values.allSatisfy { $0.object === monitor })
        #expect(others.values.map(\.status) == [.notReachable])
        #expect(others.values.allSatisfy { $0.object === other })
        let item = try #require(received.first { $0.object === monitor })
        #expect(item.name.rawValue == "io.reach.reachability.change")
        #expect(item.userInfo["AFNetworkingReachabilityNotificationStatusItem"] as? Int == 2)
        #expect(item.userInfo[ReachabilityNotification.changeKey] as? ReachabilityChange == item.change)
    }

    @Test func `a block replaces the previous one, while observers add up`() async throws {
        let source = FakeSource()
        let monitor = ReachabilityMonitor(source)
        let (old, new) = (EventLog<NetworkReachabilityStatus>(), EventLog<NetworkReachabilityStatus>())
        let (first, second) = (EventLog<ReachabilityNotification>(), EventLog<ReachabilityNotification>())
        monitor.setStatusChangeBlock(old.sink)
        monitor.setStatusChangeBlock(new.sink)
        let token = monitor.notificationCenter.addObserver(
            forName: .reachabilityDidChange, object: monitor, using: first.sink)
        monitor.notificationCenter.addObserver(forName: .reachabilityDidChange, object: monitor, using: second.sink)
        monitor.start()
        source.report(.away)
        try await second.wait(for: 1)
        #expect(old.values.isEmpty)
        #expect(new.values == [.notReachable])
        #expect(first.values.count == 1)

        monitor.setStatusChangeBlock(nil)
        monitor.notificationCenter.removeObserver(token)
        source.report(.reachable("eth0"))
        try await second.wait(for: 2)
        #expect(new.values == [.notReachable])
        #expect(first.values.count == 1)
    }

    @Test func `an observer that an earlier observer removes is not called`() async throws {
        let source = FakeSource()
        let center = ReachabilityNotificationCenter()
        let monitor = ReachabilityMonitor(source, center: center)
        let (removed, last) = (EventLog<ReachabilityNotification>(), EventLog<ReachabilityNotification>())
        let tokens = EventLog<ReachabilityObserver>()
        center.addObserver(forName: nil, object: monitor) { _ in tokens.values.forEach(center.removeObserver) }
        tokens.append(center.addObserver(forName: nil, object: monitor, using: removed.sink))
        center.addObserver(forName: .reachabilityDidChange, object: monitor, using: last.sink)
        monitor.start()
        source.report(.away)
        try await last.wait(for: 1)
        #expect(removed.values.isEmpty)
    }

    @Test func `a notification that a program posts itself reaches the observers of its name`() async throws {
        let monitor = ReachabilityMonitor(FakeSource(.away))
        let center = monitor.notificationCenter
        monitor.start()
        let change = try #require(await monitor.changes.first { _ in true })
        let (mine, all) = (EventLog<ReachabilityNotification>(), EventLog<ReachabilityNotification>())
        let name = ReachabilityNotification.Name(rawValue: "org.example.test")
        center.addObserver(forName: name, object: monitor, using: mine.sink)
        center.addObserver(forName: .reachabilityDidChange, object: ReachabilityMonitor(FakeSource()), using: all.sink)
        center.post(ReachabilityNotification(name: name, object: monitor, change: change))
        #expect(mine.values.map(\.name) == [name])
        #expect(all.values.isEmpty)
    }

    @Test func `an initial event that is declined reaches sequences only`() async throws {
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(source, wantsInitialEvent: false)
        let (statuses, changes) = (EventLog<NetworkReachabilityStatus>(), EventLog<ReachabilityChange>())
        let notifications = EventLog<ReachabilityNotification>()
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.notificationCenter.addObserver(forName: nil, object: monitor, using: notifications.sink)
        monitor.start()
        #expect(await monitor.changes.first { _ in true }?.isInitial == true)
        monitor.setChangeBlock(changes.sink)
        #expect(monitor.isReachable)
        source.report(.away)
        #expect(try await changes.wait(for: 1).map(\.sequenceNumber) == [2])
        #expect(statuses.values == [.notReachable])
        #expect(try await notifications.wait(for: 2).map(\.change.sequenceNumber) == [2, 2])
    }

    @Test func `a late receiver gets the current state once, with the number of its change`() async throws {
        let source = FakeSource(.away)
        let center = ReachabilityNotificationCenter()
        let monitor = ReachabilityMonitor(source, center: center)
        monitor.start()
        source.report(.reachable("eth0"))
        source.report(.reachable("eth1"))
        let statuses = EventLog<NetworkReachabilityStatus>()
        let (changes, mine) = (EventLog<ReachabilityChange>(), EventLog<ReachabilityChange>())
        let (all, elsewhere) = (EventLog<ReachabilityChange>(), EventLog<ReachabilityChange>())
        monitor.setStatusChangeBlock(statuses.sink)
        monitor.setChangeBlock(changes.sink)
        center.addObserver(forName: .reachabilityStateDidChange, object: monitor) { mine.append($0.change) }
        center.addObserver(forName: .reachabilityDidChange) { all.append($0.change) }
        center.addObserver(forName: nil, queue: DispatchQueue(label: "test")) { elsewhere.append($0.change) }
        var sequence = monitor.changes.makeAsyncIterator()
        let first = try #require(await sequence.next(isolation: nil))
        #expect(first.isInitial)
        #expect(first.sequenceNumber == 3)
        #expect(first.state.interface == "eth1")
        #expect(statuses.values == [.reachableViaWiFi])
        #expect(changes.values == [first])
        #expect(mine.values == [first])
        #expect(all.values == [first])

        source.report(.away)
        let second = try #require(await sequence.next(isolation: nil))
        #expect(second.sequenceNumber == 4)
        #expect(statuses.values == [.reachableViaWiFi, .notReachable])
        #expect(changes.values == [first, second])
        #expect(mine.values == [first, second])
        #expect(all.values == [first, second])
        #expect(try await elsewhere.wait(for: 4) == [first, first, second, second])
    }

    @Test func `receivers that register during changes begin with the state and get no change twice`() async throws {
        let source = FakeSource(.reachable("eth0"))
        let monitor = ReachabilityMonitor(source)
        monitor.start()
        let logs = (0..<50).map { _ in EventLog<ReachabilityChange>() }
        async let changing: Void = onThread {
            for round in 0..<200 { source.report(.reachable("eth\(round % 2 + 1)")) }
            source.report(.away)
        }
        await withTaskGroup { group in
            for (number, log) in logs.enumerated() {
                if number.isMultiple(of: 2) {
                    monitor.notificationCenter.addObserver(forName: .reachabilityStateDidChange, object: monitor) {
                        log.append($0.change)
                    }
                } else {
                    group.addTask {
                        for await change in monitor.changes {
                            log.append(change)
                            if change.state.status == .notReachable { break }
                        }
                    }
                }
            }
        }
        await changing
        for log in logs {
            let received = try await log.wait { $0.last?.state.status == .notReachable }
            let numbers = received.map(\.sequenceNumber)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(numbers)")
            #expect(received.map(\.isInitial) == [true] + Array(repeating: false, count: received.count - 1))
        }
    }
}
