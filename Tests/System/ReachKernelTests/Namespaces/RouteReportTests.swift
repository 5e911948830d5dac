internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// What makes earlier answers about routes void: ``ReachabilityEngine/routesVersion``.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct RouteReportTests {
    /// What an engine in a namespace tells, and the version that those who are told find. Confined to one thread.
    private final class Scene {
        static let address = IPAddress(ipv4: 0xcb00_7109)
        let loop: EventLoop
        let engine: ReachabilityEngine
        private let namespace: TestNamespace
        private var told: [UInt64] = []

        init(_ namespace: TestNamespace, options: ReachabilityEngine.Options = ReachabilityEngine.Options()) throws {
            self.namespace = namespace
            loop = try EventLoop()
            engine = ReachabilityEngine(loop: loop, options: options)
            engine.start()
            _ = engine.watch(.internet) { [unowned self] _ in told.append(engine.routesVersion) }
            _ = engine.watchRoutes(to: [Self.address]) { [unowned self] in
                told.append(engine.routesVersion)
                loop.stop()
            }
        }

        /// Runs commands of `ip` and then the loop, until routes are announced.
        ///
        /// - Returns: Whether everybody was told after the version had gone up.
        func isRaised(by commands: String...) throws -> Bool {
            let before = engine.routesVersion
            told = []
            for command in commands {
                _ = try ChildProcess.run(["ip", "-n", namespace.name] + command.split(separator: " ").map(String.init))
            }
            run(for: .seconds(5))
            return !told.isEmpty && told.allSatisfy { $0 > before }
        }

        /// Whether the address has a route of its own; `nil` while routes are not known.
        var hasOwnRoute: Bool? {
            engine.routes(to: [RoutedAddress(Self.address)])?.first.map { if case .own = $0 { true } else { false } }
        }

        /// Runs the loop until notices are not read.
        func runUntilUnobservable() -> Bool {
            let end = SystemClock.boot + .seconds(1)
            while engine.observationError == nil, SystemClock.boot < end { run(for: .milliseconds(5)) }
            return engine.observationError != nil
        }

        func run(for limit: Duration) {
            let timer = loop.schedule(at: SystemClock.boot + limit) { [unowned self] in loop.stop() }
            loop.run()
            loop.cancel(timer)
        }
    }

    @Test func `routes, rules, addresses and links raise the version before anybody is told`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let silent = try await namespace.perform { () -> [String] in
            let scene = try Scene(namespace)
            let kinds = [
                "route add 203.0.113.9 via 192.0.2.1", "route del 203.0.113.9",
                "rule add pref 99 to 203.0.113.0/24 lookup main",
                "rule del pref 99", "address add 192.0.2.77/24 dev up0", "address del 192.0.2.77/24 dev up0",
                "link set up0 down", "link set up0 up", "route add default via 192.0.2.1",
            ]
            return try kinds.filter { try !scene.isRaised(by: $0) }
        }
        #expect(silent == [])
    }

    @Test func `a resync raises the version before anybody is told`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let isRaised = try await namespace.perform {
            var options = ReachabilityEngine.Options()
            options.observer.wantsEveryNotice = true
            options.observer.receiveBufferBytes = 2048
            let scene = try Scene(namespace, options: options)
            let flapping = (0..<100).flatMap { _ in ["route del default", "route add default via 192.0.2.1"] }
            try namespace.batch(flapping.joined(separator: "\n"))
            return try scene.isRaised()
        }
        #expect(isRaised)
    }

    /// The kernel dropped notices (ENOBUFS), twice within a second: after the second time there is a pause before all
    /// is read again.
    @Test func `after lost notices routes are the kernel's again, and in the pause before that none are reported`()
        async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let found = try await namespace.perform { () -> [Bool] in
            var options = ReachabilityEngine.Options()
            options.observer.receiveBufferBytes = 2048
            let scene = try Scene(namespace, options: options)
            func lose(_ last: String) throws {
                let flapping = (0..<200).flatMap { _ in ["add", "del"].map { "route \($0) 203.0.113.9 via 192.0.2.1" } }
                try namespace.batch((flapping + [last]).joined(separator: "\n"))
            }
            var found = [scene.hasOwnRoute == false]
            try lose("route add 203.0.113.9 via 192.0.2.1")
            found.append(try scene.isRaised())
            found.append(scene.hasOwnRoute == true)
            try lose("route del 203.0.113.9 via 192.0.2.1")
            found.append(scene.runUntilUnobservable())
            // While notices are not read, no one is told of changes.
            found.append(!scene.engine.reportsRoutes(to: [Scene.address]))
            found.append(scene.hasOwnRoute == nil)
            found.append(try scene.isRaised())
            found.append(scene.hasOwnRoute == false)
            found.append(scene.engine.reportsRoutes(to: [Scene.address]))
            found.append(try scene.isRaised(by: "route add 203.0.113.9 via 192.0.2.1"))
            found.append(scene.hasOwnRoute == true)
            return found
        }
        #expect(found == Array(repeating: true, count: 11))
    }

    @Test func `only routes to watched addresses are reported, and none while the kernel is not observed`() async throws
    {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let other = IPAddress(ipv4: 0xcb00_710a)
        let reported = try await namespace.perform { () -> [Bool] in
            let scene = try Scene(namespace)
            let before = scene.engine.routesVersion
            let id = scene.engine.watchRoutes(to: [other]) {}
            var reported = [Scene.address, other].map { scene.engine.reportsRoutes(to: [$0]) }
            scene.engine.unwatch(id)
            // What was kept while the other was watched does not hold any more.
            reported.append(scene.engine.routesVersion > before + 1)
            reported.append(scene.engine.reportsRoutes(to: [Scene.address, other]))
            let idle = try EventLoop()
            reported.append(ReachabilityEngine(loop: idle).reportsRoutes(to: []))
            return reported
        }
        #expect(reported == [true, true, true, false, false])
    }
}
