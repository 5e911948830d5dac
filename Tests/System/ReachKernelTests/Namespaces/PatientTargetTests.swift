internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

/// Many targets whose watchers can wait.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct PatientTargetTests {
    /// An engine in a namespace with a default route, which watches the Internet and 1,000 addresses behind that route. Confined to
    /// one thread.
    private final class Scene {
        static let count = 1000
        private let loop: EventLoop
        private let engine: ReachabilityEngine
        private let namespace: TestNamespace
        /// The targets whose status changed, with the turn of the loop; `nil` is the Internet.
        private var reports: [(target: Int?, turn: UInt64)] = []
        private var states: [Int: ReachabilityState] = [:]
        private var watches: [UInt64] = []
        private var flapsLeft = 0
        /// Called with each report.
        private var onReport: () -> Void = {}

        init(_ namespace: TestNamespace) throws {
            self.namespace = namespace
            loop = try EventLoop()
            engine = ReachabilityEngine(loop: loop)
            engine.start()
            let targets = try Self.targets()
            engine.watchTogether {
                watches = targets.enumerated().map { number, target in
                    engine.watch(target, isPatient: true) { [unowned self] in note($0, number) }
                }
            }
            _ = engine.watch(.internet) { [unowned self] in note($0, nil) }
        }

        private func note(_ event: TargetEvent, _ target: Int?) {
            guard case .change(let change) = event else { return }
            if let target { states[target] = change.state }
            reports.append((target, loop.turn))
            onReport()
        }

        /// Changes the network, and runs the loop until all watched targets have this status.
        private func run(_ commands: String..., until status: ReachabilityStatus) throws {
            reports = []
            try namespace.batch(commands.joined(separator: "\n"))
            let limit = loop.schedule(at: SystemClock.boot + .seconds(10)) { [unowned self] in loop.stop() }
            func check() {
                if flapsLeft == 0, watches.indices.allSatisfy({ states[$0]?.status == status }) { return loop.stop() }
                loop.schedule(at: SystemClock.boot + .milliseconds(1), check)
            }
            loop.afterEvents(check)
            loop.run()
            loop.cancel(limit)
        }

        private static func targets() throws -> [Target] {
            try (0..<count).map { try Target("203.0.\(113 + $0 / 250).\(1 + $0 % 250)") }
        }

        /// Watches all targets for somebody who does not wait, for a moment.
        func watchImpatiently() throws {
            let targets = try Self.targets()
            engine.watchTogether {
                for target in targets { engine.unwatch(engine.watch(target) { _ in }) }
            }
        }

        func lose() throws { try run("route del default", until: .notReachable) }
        func restore() throws { try run("route add default via 192.0.2.1", until: .reachable) }

        /// What a test compares: whether all targets have the status, and whether the Internet came first, alone.
        func outcome(_ status: ReachabilityStatus) -> [Bool] {
            [
                states.count == Self.count && states.values.allSatisfy { $0.status == status },
                reports.first?.target == nil, Set(reports.map(\.turn)).count >= 4,
                reports.count == Self.count + 1,
            ]
        }

        /// Ends half of the watches when the first of the targets has been reported.
        func loseAndEndHalf() throws -> Bool {
            var isDone = false
            var late = 0
            onReport = { [unowned self] in
                guard !isDone, reports.last?.target != nil else { return }
                isDone = true
                loop.afterEvents { [unowned self] in
                    let before = Set(reports.compactMap(\.target))
                    engine.watchTogether { watches[500...].forEach(engine.unwatch) }
                    watches.removeLast(500)
                    onReport = { [unowned self] in
                        if let last = reports.last?.target, last >= 500, !before.contains(last) { late += 1 }
                    }
                }
            }
            try lose()
            return isDone && late == 0 && watches.indices.allSatisfy { states[$0]?.status == .notReachable }
        }

        /// Loses and restores the route ten times while earlier changes are still being evaluated, and loses it.
        func flap() throws -> Bool {
            func toggle() {
                let verb = flapsLeft % 2 == 0 ? "add" : "del"
                try? namespace.batch("route \(verb) default via 192.0.2.1")
                flapsLeft -= 1
                if flapsLeft > 0 { loop.schedule(at: SystemClock.boot + .milliseconds(1), toggle) }
            }
            flapsLeft = 20
            loop.schedule(at: SystemClock.boot, toggle)
            try lose()
            return flapsLeft == 0 && watches.indices.allSatisfy { states[$0]?.status == .notReachable }
        }
    }

    private func scene<Result: Sendable>(_ body: @escaping @Sendable (Scene) throws -> Result) async throws -> Result {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        return try await namespace.perform { try body(Scene(namespace)) }
    }

    @Test func `a change of the default route is reported before many targets of the patient are asked about`()
        async throws
    {
        let found = try await scene { scene in
            try scene.restore()
            try scene.lose()
            let lost = scene.outcome(.notReachable)
            try scene.restore()
            return lost + scene.outcome(.reachable)
        }
        #expect(found == Array(repeating: true, count: 8))
    }

    @Test func `targets are patient again when the last who did not wait is gone`() async throws {
        let found = try await scene { scene in
            try scene.restore()
            try scene.watchImpatiently()
            try scene.lose()
            return scene.outcome(.notReachable)
        }
        #expect(found == Array(repeating: true, count: 4))
    }

    @Test func `watches that end meanwhile get no report, and the others get theirs`() async throws {
        #expect(
            try await scene { scene in
                try scene.restore()
                return try scene.loseAndEndHalf()
            })
    }

    @Test func `however often the route changes meanwhile, each target has the last status in the end`() async throws {
        #expect(
            try await scene { scene in
                try scene.restore()
                return try scene.flap()
            })
    }
}
