internal import CReachLinux
internal import ReachCore
@testable internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Irrelevant notices, and more notices than the queue holds.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(2)))
struct StormTests {
    @Test func `containers that come and go cause no change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        let cycle = (0..<50).map { number in
            """
            link add c\(number) type veth peer name d\(number)
            link set c\(number) up
            link set d\(number) up
            addr add 198.51.100.\(number + 1)/32 dev c\(number)
            link del c\(number)
            """
        }
        try await watched.expectNothing(
            after: { try namespace.batch(cycle.joined(separator: "\n")) },
            butThen: Change(.notReachable, .noRoute, because: .routeRemoved),
            after: { try namespace.run("ip", "route", "del", "default") })
    }

    @Test func `changes of links that carry no path are read together`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let times = EventLog<BootTime>()
        let mailboxes = EventLog<Mailbox>()
        let descriptor = namespace.descriptor
        BackgroundThread.start(named: "reach-test") {
            guard reach_enter_network_namespace(descriptor) == 0, let loop = try? EventLoop() else { return }
            let observer = KernelObserver(loop: loop) { event in
                if case .changed = event { times.append(SystemClock.boot) }
            }
            // As if the path were over a link that does not exist: no change concerns it.
            observer.support = PathSupport(links: [9_999])
            #expect(throws: Never.self) { try observer.start() }
            mailboxes.append(loop.mailbox)
            withExtendedLifetime(observer) { loop.run() }
        }
        let mailbox = try await mailboxes.wait(for: 1)[0]
        defer { mailbox.post { $0.stop() } }
        for number in 0..<40 {
            try namespace.batch(
                "link add c\(number) type veth peer name d\(number)\naddr add 198.51.100.\(number + 1)/32 dev c\(number)"
            )
        }
        try await times.wait(for: 5)
        let gaps = zip(times.values, times.values.dropFirst()).map { $1 - $0 }
        #expect(gaps.allSatisfy { $0 >= KernelObserver.collectingTime })
    }

    @Test func `a link that appeared among containers counts once it carries the path`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: {
                let links = (0..<20).map { "link add c\($0) type veth peer name d\($0)\nlink set c\($0) up" }
                try namespace.batch(links.joined(separator: "\n") + "\nlink set d7 up")
            },
            butThen: Change(.reachable, because: .routeReplaced, [.path]),
            // Without an address of its own, so that the route is the first that is heard of the link's use.
            after: {
                try namespace.run("ip", "route", "replace", "default", "dev", "c7", "src", "192.0.2.2")
            })
        #expect(watched.state?.interface == "c7")
        try await watched.expect(Change(.notReachable, .noRoute, because: .linkDown)) {
            try namespace.run("ip", "link", "set", "c7", "down")
        }
    }

    @Test func `changes of several targets by one notice differ in nothing but the target`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        let changes = EventLog<ReachabilityChange>()
        let targets = try ["198.51.100.1", "198.51.100.2"].map { try Target($0) }
        watched.perform { engine in
            engine.watchTogether {
                for target in targets {
                    _ = engine.watch(target) { if case .change(let change) = $0 { changes.append(change) } }
                }
            }
        }
        try await changes.wait(for: 2)
        try namespace.run("ip", "route", "del", "default")
        let all = try await changes.wait(for: 4)
        // Only then they are encoded once.
        #expect(all[2].differsOnlyInTarget(from: all[3]))
        #expect(Set(all[2...].map(\.state.target)) == Set(targets))
    }

    @Test func `many addresses at once have the verdicts that each has alone, and share them`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        for route in [
            "198.51.100.0/26 via 192.0.2.9", "198.51.100.64/26 via 192.0.2.1 metric 70", "203.0.113.7/32 dev up0",
        ] {
            try namespace.batch("route add \(route)")
        }
        try namespace.batch("route add blackhole 198.51.100.128/26\nroute add prohibit 203.0.113.128/25")
        try namespace.batch("rule add to 203.0.113.64/26 unreachable")
        let texts =
            (0..<150).map { "198.51.100.\($0 + 40)" } + (0..<150).map { "203.0.113.\($0)" }
            + ["127.0.0.1", "192.0.2.2", "192.0.2.77", "224.0.0.1", "::1", "fe80::1", "2001:db8:9::1", "ff02::1"]
        let addresses = texts.compactMap(IPAddress.init)
        let differing = try await namespace.perform {
            let view = try KernelView()
            try view.refresh()
            var finder = PathFinder(view: view)
            let together = try finder.verdicts(on: addresses.map { SingleAddress($0) })
            var alone = PathFinder(view: view)
            var differing: [String] = []
            for (address, found) in zip(addresses, together) {
                let verdict = try alone.verdict(on: .address(address, zone: nil), anchors: [])
                if verdict != found { differing.append("\(address): \(found)") }
            }
            if alone.neighbours != finder.neighbours { differing.append("other neighbours") }
            return differing
        }
        #expect(differing == [])
    }

    @Test func `a metric is that of the only route that was added, and is looked up otherwise`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.1", "metric", "70")
        try namespace.run("ip", "route", "del", "default", "metric", "0")
        try namespace.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.1", "metric", "5")
        var added = Route(destination: try #require(IPPrefix(IPAddress(ipv4: 0), length: 0)))
        added.metric = 7
        added.hops = [NextHop(interface: nil, gateway: IPAddress("192.0.2.1"))]
        let addresses = ["203.0.113.1", "203.0.113.2", "198.51.100.1", "198.51.100.2"].compactMap(IPAddress.init)
        let metrics = try await namespace.perform { [added] in
            let view = try KernelView()
            try view.refresh()
            var added = added
            added.hops[0].interface = view.table.link(named: "up0")?.index
            let lookUp = { (route: Route?, hadNoRoute: Bool) in
                var finder = PathFinder(view: view)
                let singles = addresses.map { SingleAddress($0, hadNoRoute: hadNoRoute) }
                return try finder.verdicts(on: singles, after: route).map(\.ipv4.metric)
            }
            var elsewhere = added
            elsewhere.hops[0].gateway = IPAddress("192.0.2.9")
            var narrow = added
            narrow.destination = try #require(IPPrefix(IPAddress("198.51.100.0") ?? .init(ipv4: 0), length: 24))
            return [
                try lookUp(added, true), try lookUp(narrow, true), try lookUp(added, false), try lookUp(nil, true),
                try lookUp(elsewhere, true),
            ]
        }
        #expect(metrics == [[7, 7, 7, 7], [70, 70, 7, 7], [70, 70, 5, 5], [70, 70, 5, 5], [70, 70, 5, 5]])
    }

    @Test func `targets that a default route brings back have its metric, and a better one's after it`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "route", "del", "default")
        let watched = try await TestEngine.start(Target("198.51.100.1"), in: namespace)
        try await watched.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1", "metric", "70")
        }
        #expect(watched.state?.ipv4.metric == 70)
        try await watched.expect(Change(.reachable, because: .routeAdded, [.path])) {
            try namespace.run("ip", "route", "add", "198.51.100.0/24", "via", "192.0.2.1", "metric", "5")
        }
        #expect(watched.state?.ipv4.metric == 5)
    }

    @Test func `lookups of routes with very many next hops are all answered`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let hops = (10..<210).map { "nexthop via 192.0.2.\($0)" }.joined(separator: " ")
        try namespace.run("sh", "-c", "ip route add 198.51.100.0/24 \(hops)")
        let questions = (1...40).map { number in
            RouteQuestion(IPAddress(ipv4: (number % 2 == 0 ? 0xc633_6400 : 0xcb00_7100) + number), matchesTable: true)
        }
        let counts = try await namespace.perform {
            try KernelQueries().routes(questions).map { answer -> Int in
                guard case .route(let route) = answer else { return 0 }
                return route.hops.count
            }
        }
        #expect(counts == (1...40).map { $0 % 2 == 0 ? 200 : 1 })
    }

    @Test func `the kernel drops notices of routes to other networks`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        let routes = (0..<5000).map { "198.18.\($0 / 250).\($0 % 250)/32" }
        let adds = routes.map { "route add \($0) via 192.0.2.1" }
        let deletes = routes.map { "route del \($0)" }
        try await watched.expectNothing(
            after: { try namespace.batch((adds + deletes).joined(separator: "\n")) },
            butThen: Change(.notReachable, .noRoute, because: .routeRemoved),
            after: { try namespace.run("ip", "route", "del", "default") })
        #expect(watched.others.values.isEmpty)
    }

    @Test func `after a loss the engine reads everything again and reports a resync`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = ReachabilityEngine.Options()
        // Every notice arrives, in a queue that holds only a few.
        options.observer.wantsEveryNotice = true
        options.observer.receiveBufferBytes = 2048
        let watched = try await TestEngine.start(in: namespace, options: options)
        let flapping = (0..<200).flatMap { _ in ["route del default", "route add default via 192.0.2.1"] }
        try watched.whileStalled { try namespace.batch(flapping.joined(separator: "\n")) }
        try await watched.others.wait { $0.hasPrefix("resync:") }
        try namespace.run("ip", "route", "del", "default")
        // There is at most one resync a second, so the last one may take a second.
        try await watched.changes.wait(within: .seconds(5)) { $0.last?.state.status == .notReachable }
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        let last = try await watched.changes.wait(within: .seconds(5)) { $0.last?.state.isReachable == true }
        #expect(last.last?.state.isStale == false)
    }

    @Test func `a watch that begins while notices are not read leaves other targets their states`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = ReachabilityEngine.Options()
        options.observer.wantsEveryNotice = true
        options.observer.receiveBufferBytes = 2048
        let watched = try await TestEngine.start(in: namespace, options: options)
        let flapping = (0..<200).flatMap { _ in ["route del default", "route add default via 192.0.2.1"] }
        let target = try Target("198.51.100.1")
        let others = EventLog<ReachabilityStatus>()
        // The second loss within a second is not made up for at once. On a busy machine that second may pass before.
        for _ in 0..<20 {
            try watched.whileStalled { try namespace.batch(flapping.joined(separator: "\n")) }
            try await watched.drain()
            let isPaused = EventLog<Bool>()
            watched.perform { engine in
                isPaused.append(engine.observationError != nil)
                guard engine.observationError != nil else { return }
                _ = engine.watch(target) { if case .change(let change) = $0 { others.append(change.state.status) } }
            }
            if try await isPaused.wait(for: 1)[0] { break }
        }
        let seen = try await others.wait(within: .seconds(5)) { $0.contains(.reachable) }
        #expect(seen.first == .unknown)
        #expect(!watched.changes.values.contains { $0.state.status == .unknown })
    }

    @Test func `the receive buffer reports the size that the kernel granted`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let socket = try NoticeSocket(filter: nil)
        #expect(socket.receiveBufferBytes >= 2 * NoticeSocket.defaultBufferBytes)
        #expect(try NoticeSocket(filter: nil, bufferBytes: 100_000).receiveBufferBytes == 200_000)
    }

    @Test func `removing one of two routes that differ only in the gateway changes the path`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        try await watched.expectNothing(
            after: { try namespace.run("ip", "route", "append", "default", "via", "192.0.2.5") },
            butThen: Change(.reachable, because: .routeRemoved, [.path]),
            after: { try namespace.run("ip", "route", "del", "default", "via", "192.0.2.1") })
        #expect(watched.state?.ipv4.gateway?.description == "192.0.2.5")
    }

    @Test func `two engines in one process both report a change`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let first = try await TestEngine.start(in: namespace)
        let second = try await TestEngine.start(in: namespace)
        try namespace.run("ip", "route", "del", "default")
        for watched in [first, second] {
            let change = try await watched.changes.wait(for: 2)[1]
            #expect(Change(change) == Change(.notReachable, .noRoute, because: .routeRemoved))
        }
    }

    // A notice may come before its change is complete: without KernelQueries.awaitChanges() the engine misses some.
    @Test func `none of two hundred silent route removals is missed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let watched = try await TestEngine.start(in: namespace)
        for _ in 0..<200 {
            try await watched.expect(Change(.notReachable, .noRoute, because: .addressRemoved)) {
                try namespace.run("ip", "addr", "del", "192.0.2.2/24", "dev", "up0")
            }
            try namespace.run("ip", "addr", "add", "192.0.2.2/24", "dev", "up0")
            try await watched.drain()
            try await watched.expect(Change(.reachable, because: .routeAdded)) {
                try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
            }
        }
    }

    @Test func `a change that ends within the hold-down is not reported`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = ReachabilityEngine.Options()
        options.holdDown = HoldDown(down: .seconds(30))
        let watched = try await TestEngine.start(in: namespace, options: options)
        try await watched.expectNothing(
            after: {
                try namespace.run("ip", "route", "del", "default")
                try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
            },
            butThen: Change(.reachable, because: .routeReplaced, [.path]),
            after: { try namespace.run("ip", "route", "replace", "default", "via", "192.0.2.4") })
        options.holdDown = HoldDown(down: .milliseconds(200))
        let brief = try await TestEngine.start(in: namespace, options: options)
        try await brief.expect(Change(.notReachable, .noRoute, because: .holdElapsed)) {
            try namespace.run("ip", "route", "del", "default")
        }
    }
}
