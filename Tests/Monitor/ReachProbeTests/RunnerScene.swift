import CReachLinux
import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachProbe
import ReachTesting
import ReachTransfer
import Testing

/// A runner on a loop with its own thread, optionally in a namespace. Makes one attempt or many at a time.
final class RunnerScene: Sendable {
    struct Order: Sendable {
        let specification: ProbeSpecification
        let binding: InterfaceBinding?
        var followsRoutes = false
    }

    private let mailbox: Mailbox
    private let results = EventLog<(Int, ProbeResult)>()
    private nonisolated(unsafe) var runner: ProbeRunner?
    private nonisolated(unsafe) var attempts: [any ProbeAttempt] = []

    init(in namespace: TestNamespace? = nil, _ options: NameService.Options = NameService.Options()) throws {
        signal(SIGPIPE, SIG_IGN)
        let ready = EventLog<Mailbox>()
        let scene = EventLog<ProbeRunnerBox>()
        BackgroundThread.start(named: "test-probes") {
            if let namespace { _ = reach_enter_network_namespace(namespace.descriptor) }
            var transferOptions = TransferEngine.Options()
            transferOptions.resolver = options
            guard let loop = try? EventLoop(),
                let transfers = try? TransferEngine(loop: loop, options: transferOptions)
            else { return }
            let runner = ProbeRunner(loop: loop, transfers: transfers)
            runner.routes = { addresses in
                guard let view = try? KernelSnapshot().view else { return nil }
                var finder = PathFinder(view: view)
                guard let internet = try? finder.internet(anchors: ReferenceAddresses.standard) else { return nil }
                return try? finder.routes(to: addresses.map { RoutedAddress($0) }, internet: internet)
            }
            scene.append(ProbeRunnerBox(runner: runner))
            ready.append(loop.mailbox)
            loop.run()
        }
        while ready.values.isEmpty { usleep(200) }
        mailbox = ready.values[0]
        runner = scene.values[0].runner
    }

    deinit { mailbox.post { $0.stop() } }

    /// The number of timers that the loop has now.
    func timers() async throws -> Int {
        let counts = EventLog<Int>()
        mailbox.post { counts.append($0.timerCount) }
        return try await counts.wait(for: 1)[0]
    }

    /// How often the loop has woken up.
    func turns() async throws -> UInt64 {
        let counts = EventLog<UInt64>()
        mailbox.post { counts.append($0.turn) }
        return try await counts.wait(for: 1)[0]
    }

    /// Makes all attempts at the same time.
    func run(_ orders: [Order], within limit: Duration = .seconds(10)) async throws -> [ProbeResult] {
        let scene = self
        let before = results.values.count
        mailbox.post { _ in
            for (number, order) in orders.enumerated() {
                guard let runner = scene.runner else { return }
                let attempt = runner.start(
                    ProbeTerms(order.specification), binding: order.binding, followsRoutes: order.followsRoutes
                ) { observation in
                    let result = ProbeJudge.result(of: observation, order.specification.expected, evidence: .same)
                    scene.results.append((number, result))
                }
                scene.attempts.append(attempt)
            }
        }
        let all = try await results.wait(for: before + orders.count, within: limit)
        return all[before...].sorted { $0.0 < $1.0 }.map(\.1)
    }

    func run(
        _ target: String, by interface: String? = nil, timeout: Duration = .seconds(5),
        _ change: (inout ProbeSpecification) throws -> Void = { _ in }
    ) async throws -> ProbeResult {
        var specification = ProbeSpecification(name: "test", target: try ProbeTarget(target))
        specification.timeout = timeout
        try change(&specification)
        let order = Order(specification: specification, binding: interface.map { InterfaceBinding(name: $0) })
        return try #require(try await run([order]).first)
    }

    func post(_ work: @escaping @Sendable (EventLoop) -> Void) { mailbox.post(work) }
}

/// Passes the runner, which is used on its loop's thread only, to the scene.
private struct ProbeRunnerBox: @unchecked Sendable {
    let runner: ProbeRunner
}
