import Foundation
import ReachCore
import ReachLoop
import ReachTesting

@testable import ReachControl

/// A server on a thread of its own, in a directory of its own, with a service that tests control.
final class TestServer: @unchecked Sendable {
    /// The objects that are confined to the loop's thread.
    private final class Host {
        let loop: EventLoop
        let service: PlayedService
        let queue = PlayedQueue()
        let server: ControlServer

        init(_ limits: ControlLimits, _ authority: ControlAuthority, _ hasQueue: Bool) throws {
            loop = try EventLoop()
            service = PlayedService()
            server = ControlServer(
                loop: loop, service: service,
                information: ServiceInformation(
                    vendor: "reach", product: "test", version: "1.2.3", url: "https://example.org/reach"),
                queue: hasQueue ? queue : nil, authority: authority, limits: limits)
        }
    }

    /// A box through which the loop's thread gives the host to the tests. They use it only in work posted to that
    /// thread, or while the thread waits for them.
    private final class HostBox: @unchecked Sendable {
        var host: Host?
        var failure: (any Error)?
        let started = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
    }

    private let temporary: TemporaryDirectory
    let path: String
    var directory: String { temporary.path }
    private let box = HostBox()
    private var mailbox: Mailbox?

    init(
        limits: ControlLimits = ControlLimits(), authority: ControlAuthority = ControlAuthority(user: getuid()),
        listens: Bool = true, hasQueue: Bool = false
    ) throws {
        temporary = try TemporaryDirectory()
        path = temporary.path + "/reach.sock"
        BackgroundThread.start(named: "test-server") { [box, path] in
            do {
                let host = try Host(limits, authority, hasQueue)
                if listens { try host.server.listen(at: path) }
                box.host = host
            } catch {
                box.failure = error
            }
            box.started.signal()
            box.host?.loop.run()
            box.host = nil
            box.ended.signal()
        }
        box.started.wait()
        if let failure = box.failure { throw failure }
        mailbox = box.host?.loop.mailbox
    }

    /// Ends the loop, and with it the server.
    func stop() {
        guard let mailbox else { return }
        mailbox.post { $0.stop() }
        box.ended.wait()
        self.mailbox = nil
    }

    deinit { stop() }

    /// Runs `body` on the loop's thread, and waits for it.
    @discardableResult
    func run<Result>(_ body: @escaping (PlayedService, ControlServer) -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var result: Result?
        nonisolated(unsafe) let body = body
        mailbox?.post { [box] _ in
            if let host = box.host { result = body(host.service, host.server) }
            done.signal()
        }
        done.wait()
        guard let result else { fatalError("the server has stopped") }
        return result
    }

    /// Runs `body` with the queue on the loop's thread, and waits for it.
    @discardableResult
    func queue<Result>(_ body: @escaping (PlayedQueue) -> Result) -> Result {
        nonisolated(unsafe) var result: Result?
        let box = box
        run { _, _ in result = box.host.map { body($0.queue) } }
        guard let result else { fatalError("the server has stopped") }
        return result
    }

    var statistics: ControlServer.Statistics { run { $1.statistics } }

    /// Waits until the server's statistics meet a condition.
    func wait(
        within limit: Duration = .seconds(10), until condition: @escaping (ControlServer.Statistics) -> Bool
    ) -> Bool {
        let deadline = ContinuousClock.now + limit
        while ContinuousClock.now < deadline {
            if condition(statistics) { return true }
            usleep(2000)
        }
        return false
    }

    /// Leaves a stale socket at a path, as a killed process does.
    static func bindAndLeave(_ path: String) -> Bool {
        guard let address = UnixAddress(path), let socket = try? UnixAddress.socket(isBlocking: true) else {
            return false
        }
        defer { close(socket) }
        return (try? address.bind(socket)) != nil
    }
}

/// A service that gives the answers and events that a test has set.
final class PlayedService: ControlService {
    private var states: [Target: ReachabilityState] = [:]
    private var sinks: [Target: [Int: (MonitorEvent) -> Void]] = [:]
    /// Status calls that the test has yet to answer, if ``answersLater`` is set.
    var openQuestions: [Reply<ReachabilityState>] = []
    var answersLater = false
    var reloadResult: Result<Void, MonitorError> = .success(())
    var links: [LinkReport] = []
    private(set) var reloads: [Caller] = []
    /// Whether a reload emits a change, so that a client can cause one.
    var changesOnReload = false
    private(set) var watchCount = 0
    private(set) var cancelCount = 0

    func status(of target: Target, for caller: Caller, reply: @escaping Reply<ReachabilityState>) {
        if answersLater { return openQuestions.append(reply) }
        if case .name("blind.example") = target.subject {
            return reply(.failure(.cannotObserve(reason: "netlink is gone")))
        }
        reply(.success(state(of: target)))
    }

    func watch(
        _ target: Target, for caller: Caller, sink: @escaping (MonitorEvent) -> Void
    ) throws(MonitorError) -> ControlWatch {
        if case .name("blind.example") = target.subject { throw .cannotObserve(reason: "netlink is gone") }
        watchCount += 1
        let number = watchCount
        sinks[target, default: [:]][number] = sink
        return ControlWatch(
            state: { [unowned self] in target.description == "slow.example" ? states[target] : state(of: target) },
            cancel: { [unowned self] in
                cancelCount += 1
                sinks[target]?[number] = nil
            })
    }

    func probes(for caller: Caller, reply: @escaping Reply<[ProbeReport]>) {
        reply(.success([ProbeJSONTests.report, ProbeJSONTests.report]))
    }

    func probe(_ order: ProbeOrder, for caller: Caller, reply: @escaping Reply<ProbeAnswer>) {
        reply(.success(ProbeAnswer(target: order.target, name: nil, result: ProbeJSONTests.result)))
    }

    func links(for caller: Caller, reply: @escaping Reply<[LinkReport]>) { reply(.success(links)) }

    func explain(_ target: Target, for caller: Caller, reply: @escaping Reply<Explanation>) {
        if case .name("blind.example") = target.subject {
            return reply(.failure(.cannotObserve(reason: "netlink is gone")))
        }
        let path = NetworkPath(status: .reachable)
        let step = Explanation.Step(.route, .good, "There is a \"route\".")
        let family = Explanation.Family(path: path, steps: [step])
        reply(
            .success(Explanation(target: target, verdict: Verdict(ipv4: path, ipv6: path), ipv4: family, ipv6: family)))
    }

    func reload(for caller: Caller, reply: @escaping Reply<Void>) {
        reloads.append(caller)
        if changesOnReload { change() }
        reply(reloadResult)
    }

    /// Publishes a change. The epoch counts the changes, so that a reader can tell them apart.
    func change(_ target: Target = .internet) {
        let old = states[target]
        var new = old ?? .reachable(target)
        if old != nil { new.epoch += 1 }
        states[target] = new
        publish(
            .change(
                ReachabilityChange(
                    at: SystemClock.now, cause: .linkDown, aspects: [.path], previous: old, state: new)),
            about: target)
    }

    /// Makes the state stale or fresh, without an event.
    func setStale(_ isStale: Bool, _ target: Target = .internet) {
        states[target] = state(of: target)
        states[target]?.isStale = isStale
    }

    /// Makes the target unreachable without an event, as happens while no daemon runs.
    func makeUnreachable(_ target: Target = .internet) {
        states[target] = state(of: target)
        states[target]?.adopt(Verdict(.notReachable, reason: .noRoute))
    }

    func publish(_ event: MonitorEvent, about target: Target = .internet) {
        for sink in (sinks[target] ?? [:]).values { sink(event) }
    }

    private func state(of target: Target) -> ReachabilityState {
        let state = states[target] ?? .reachable(target)
        states[target] = state
        return state
    }
}

extension ReachabilityState {
    static func reachable(_ target: Target) -> ReachabilityState {
        var state = ReachabilityState(target: target, since: Timestamp(nanosecondsSince1970: 1_795_230_104_002_913_000))
        state.status = .reachable
        state.linkClass = .wired
        state.interface = "eth0"
        state.ipv4 = NetworkPath(status: .reachable)
        state.ipv4.interface = "eth0"
        state.ipv4.interfaceIndex = 2
        state.ipv4.linkClass = .wired
        state.ipv4.gateway = IPAddress("192.0.2.1")
        state.ipv4.source = IPAddress("192.0.2.2")
        state.ipv4.table = 254
        state.ipv6 = NetworkPath(status: .notReachable, reason: .noRoute)
        return state
    }
}
