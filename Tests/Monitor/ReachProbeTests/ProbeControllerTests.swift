import ReachCore
import ReachLoop
import ReachProbe
import ReachRecords
import Testing

@Suite struct ProbeControllerTests {
    @Test func `a healthy probe comes up with its first result, and emits one event`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end() }
        scene.controller.configure([try ControllerScene.specification("web")])
        scene.run { scene.attempts.count >= 4 }
        #expect(scene.events.map(\.kind) == [.up])
        let report = try #require(scene.controller.reports(at: SystemClock.now).first)
        #expect(report.state == .up)
        #expect(report.next != nil)
        #expect(report.beats.allSatisfy { $0.kind == .ok })
        #expect(scene.controller.count == 1)
        scene.controller.stop()
        #expect(scene.watcherCount == 0 && scene.controller.count == 0 && scene.loop.timerCount == 0)
        #expect(scene.controller.reports(at: SystemClock.now).isEmpty)
    }

    @Test func `a path that is away for a moment between two attempts delays none`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end() }
        scene.controller.configure([try ControllerScene.specification("web", every: .milliseconds(400))])
        scene.run { scene.events.map(\.kind) == [.up] }
        let moment = SystemClock.now
        let next = scene.controller.reports(at: moment).first?.next
        try scene.send("192.0.2.1", .notReachable)
        #expect(scene.controller.reports(at: moment).first?.next == nil)
        try scene.send("192.0.2.1", .reachable)
        #expect(scene.controller.reports(at: moment).first?.next == next && next != nil)
        scene.run { scene.attempts.count == 2 }
        #expect(scene.events.map(\.kind) == [.up, .paused, .resumed])
        scene.controller.stop()
    }

    @Test func `three failures at the failing interval take a probe down`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end(.failed(.refused, "")) }
        var specification = try ControllerScene.specification("web", every: .milliseconds(500))
        specification.failingInterval = .milliseconds(5)
        scene.controller.configure([specification])
        scene.run { scene.events.count >= 1 }
        #expect(scene.events.map(\.kind) == [.down])
        #expect(scene.attempts.count == 3)
        scene.controller.stop()
    }

    @Test func `the first failure after a success is reported, and the first success after a failure`() throws {
        let scene = try ControllerScene()
        var answers = [true, false, false, false, true, true, false, true]
        var turns: [Bool] = []
        scene.onStart = { attempt in
            let isGood = answers.isEmpty || answers.removeFirst()
            attempt.end(isGood ? .answered : .failed(.timeout, ""))
        }
        scene.controller.onTurn = { target, result in
            #expect(target.kind == .http)
            turns.append(result.outcome == .ok)
        }
        scene.controller.configure([try ControllerScene.specification("web", every: .milliseconds(10))])
        scene.run { answers.isEmpty && scene.attempts.count > 9 }
        #expect(turns == [false, true, false, true])
        scene.controller.stop()
    }

    @Test func `without a path nothing is sent, and when it returns one attempt starts at once`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end() }
        scene.controller.configure([try ControllerScene.specification("web", every: .milliseconds(10))])
        try scene.send("192.0.2.1", .notReachable)
        scene.run(for: .milliseconds(100))
        #expect(scene.attempts.isEmpty)
        let report = try #require(scene.controller.reports(at: SystemClock.now).first)
        #expect(report.pause == .noPath && report.next == nil)
        try scene.send("192.0.2.1", .reachable)
        #expect(scene.attempts.count == 1)
        scene.run { scene.events.count == 3 }
        #expect(scene.events.map(\.kind) == [.paused, .resumed, .up])
        scene.controller.stop()
    }

    @Test func `an attempt whose path goes away is cancelled and proves nothing`() throws {
        let scene = try ControllerScene()
        scene.controller.emitsResults = true
        scene.controller.configure([try ControllerScene.specification("web")])
        try scene.send("192.0.2.1", .reachable)
        scene.run { scene.attempts.count == 1 }
        try scene.send("192.0.2.1", .notReachable)
        #expect(scene.attempts[0].isCancelled)
        #expect(scene.events.map(\.kind) == [.result, .paused])
        #expect(scene.events[0].report.last?.outcome == .inconclusive(.pathLost))
        try scene.send("192.0.2.1", .reachable)
        #expect(scene.attempts.count == 2)
        scene.attempts[1].end()
        #expect(scene.events.map(\.kind) == [.result, .paused, .resumed, .result, .up])
        scene.controller.stop()
    }

    @Test func `an attempt during which the path changed or the machine slept proves nothing`() throws {
        let scene = try ControllerScene()
        scene.controller.configure([try ControllerScene.specification("web")])
        try scene.send("192.0.2.1", .reachable)
        scene.run { scene.attempts.count == 1 }
        try scene.send("192.0.2.1", .reachable, by: "wwan0", .wwan)
        scene.attempts[0].end(.failed(.timeout, ""))
        let last = try #require(scene.controller.reports(at: SystemClock.now).first?.last)
        #expect(last.outcome == .inconclusive(.pathChanged))
        scene.run { scene.attempts.count == 2 }
        try scene.send("192.0.2.1", .wake(SystemClock.now, slept: .seconds(1)))
        scene.attempts[1].end()
        #expect(scene.controller.reports(at: SystemClock.now).first?.last?.outcome == .inconclusive(.slept))
        #expect(scene.events.isEmpty)
        scene.controller.stop()
    }

    @Test func `a probe that requires a link class waits for it, and is bound to its interface`() throws {
        let scene = try ControllerScene()
        var specification = try ControllerScene.specification("web", every: .milliseconds(10))
        specification.condition.linkClass = .wifi
        scene.controller.configure([specification])
        try scene.send("192.0.2.1", .reachable)
        scene.run(for: .milliseconds(50))
        #expect(scene.attempts.isEmpty)
        #expect(scene.controller.reports(at: SystemClock.now).first?.pause == .linkClass)
        try scene.send("192.0.2.1", .reachable, by: "wlan0", .wifi)
        scene.run { scene.attempts.count == 1 }
        #expect(scene.attempts[0].binding == ProbeGate.Binding(name: "wlan0", index: 7))
        scene.controller.stop()
    }

    @Test func `the number of concurrent attempts is limited, and each probe gets its turn`() throws {
        let scene = try ControllerScene(concurrency: 3)
        scene.controller.configure(
            try (0..<20).map { try ControllerScene.specification("p\($0)", every: .milliseconds(20)) })
        scene.run(for: .milliseconds(60))
        #expect(scene.attempts.count == 3)
        var ended = 0
        while ended < scene.attempts.count, ended < 20 {
            scene.attempts[ended].end()
            ended += 1
            #expect(scene.attempts.count - ended <= 3)
        }
        #expect(Set(scene.attempts.prefix(20).map(\.name)).count == 20)
        scene.controller.stop()
    }

    @Test func `a new configuration keeps the records of unchanged probes`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end() }
        let (kept, changed) = (try ControllerScene.specification("kept"), try ControllerScene.specification("changed"))
        scene.controller.configure([kept, changed, try ControllerScene.specification("gone")])
        scene.run { scene.events.count == 3 }
        var other = changed
        other.timeout = .milliseconds(7)
        scene.controller.configure([other, kept])
        let reports = scene.controller.reports(at: SystemClock.now)
        #expect(reports.map(\.name) == ["changed", "kept"])
        #expect(reports.map(\.state) == [.unknown, .up])
        #expect(scene.controller.reports(at: SystemClock.now, after: 1, limit: 5).map(\.name) == ["kept"])
        #expect(scene.controller.reports(at: SystemClock.now, after: 0, limit: 1).map(\.name) == ["changed"])
        #expect(scene.controller.reports(at: SystemClock.now, after: 9).isEmpty)
        #expect(scene.watcherCount == 2)
        scene.controller.stop()
    }

    @Test func `a probe that is removed leaves no attempt, no watch and no timer`() throws {
        let scene = try ControllerScene()
        scene.controller.configure([try ControllerScene.specification("a", "http://web.example/")])
        scene.run { scene.attempts.count == 1 }
        #expect(scene.watcherCount > 0 && scene.loop.timerCount == 1)
        scene.controller.configure([])
        #expect(scene.attempts[0].isCancelled && scene.watcherCount == 0 && scene.loop.timerCount == 0)
    }

    @Test func `the archive gets the results of probes once, also of one that is removed, while it is wanted`() throws {
        let scene = try ControllerScene()
        scene.controller.isArchived = true
        scene.onStart = { $0.end() }
        let (kept, gone) = (try ControllerScene.specification("kept"), try ControllerScene.specification("gone"))
        scene.controller.configure([kept, gone])
        scene.run { scene.events.count == 2 }
        scene.controller.configure([kept])
        let now = SystemClock.now
        let found = scene.controller.drainArchives(at: now)
        #expect(Set(found.map(\.probe)) == ["kept", "gone"])
        for archived in found {
            #expect(archived.target == kept.target.description && archived.rows.contains { $0.answered > 0 })
        }
        #expect(scene.controller.drainArchives(at: now).isEmpty)
        scene.controller.isArchived = false
        scene.controller.configure([kept])
        let count = scene.attempts.count
        scene.run { scene.attempts.count > count }
        #expect(scene.controller.drainArchives(at: SystemClock.now).isEmpty)
        scene.controller.stop()
    }

    @Test func `a name that cannot be resolved does not pause its probe while the Internet has a path`() throws {
        let scene = try ControllerScene()
        scene.controller.configure([try ControllerScene.specification("web", "http://web.example/")])
        var unresolved = try ControllerScene.state("web.example", .notReachable)
        unresolved.reason = .nameNotResolved
        try scene.send("web.example", unresolved)
        scene.run { scene.attempts.count == 1 }
        try scene.send("internet", .notReachable)
        #expect(scene.attempts[0].isCancelled)
        #expect(scene.events.map(\.kind) == [.paused])
        scene.controller.stop()
    }

    /// The state of a host of the machine's own network that does not answer there.
    private static func off(_ target: String) throws -> ReachabilityState {
        var state = try ControllerScene.state(target, .reachable)
        state.ipv4.status = .notReachable
        state.ipv4.reason = .neighbourUnreachable
        state.ipv4.linkClass = .wired
        (state.status, state.reason, state.interface, state.linkClass) = (
            .notReachable, .neighbourUnreachable, nil, nil
        )
        return state
    }

    @Test(arguments: ["", "wired", "interface=eth0"])
    func `a device of the own network that is switched off is down, and its path is not to blame`(
        condition: String
    ) throws {
        let scene = try ControllerScene()
        var specification = try ControllerScene.specification("printer", "icmp://192.0.2.60", every: .milliseconds(20))
        if !condition.isEmpty { specification.condition = try NetworkCondition(condition) }
        scene.controller.configure([specification])
        let watched = condition.hasPrefix("interface") ? "192.0.2.60%eth0" : "192.0.2.60"
        var on = try ControllerScene.state(watched, .reachable)
        on.ipv4.linkClass = .wired
        try scene.send(watched, on)
        scene.run { scene.attempts.count == 1 }
        scene.attempts[0].end()
        // The kernel gives up during the second attempt, which it ends so.
        scene.run { scene.attempts.count == 2 }
        try scene.send(watched, Self.off(watched))
        #expect(!scene.attempts[1].isCancelled)
        scene.attempts[1].end(.failed(.unreachable, ""))
        scene.onStart = { $0.end(.failed(.unreachable, "")) }
        scene.run { scene.events.count >= 2 }
        let report = try #require(scene.controller.reports(at: SystemClock.now).first)
        #expect(scene.events.map(\.kind) == [.up, .down] && report.pause == nil)
        #expect(report.last?.outcome == .fail(.unreachable), "\(String(describing: report.last))")
        scene.onStart = { $0.end() }
        try scene.send(watched, on)
        scene.run { scene.events.count >= 3 }
        #expect(scene.events.map(\.kind) == [.up, .down, .up])
        scene.controller.stop()
    }

    @Test func `a device that is off from the start is down, and is tried on`() throws {
        let scene = try ControllerScene()
        scene.onStart = { $0.end(.failed(.unreachable, "")) }
        scene.controller.configure([
            try ControllerScene.specification("nas", "icmp://192.0.2.61", every: .milliseconds(10))
        ])
        try scene.send("192.0.2.61", Self.off("192.0.2.61"))
        scene.run { scene.attempts.count >= 6 }
        #expect(scene.events.map(\.kind) == [.down])
        try scene.send("192.0.2.61", .notReachable)
        #expect(scene.events.map(\.kind) == [.down, .paused], "a link without a carrier is no fault of the device")
        scene.controller.stop()
    }

    private static let reachable = try? ControllerScene.state("192.0.2.1", .reachable)
    private static let gone = try? ControllerScene.state("192.0.2.1", .notReachable)

    @Test func `the gate opens by the condition on the path, and the state`() throws {
        let (up, down) = (Self.reachable, Self.gone)
        let byInterface = try NetworkCondition("interface=eth0")
        let eth0 = ProbeGate.Binding(name: "eth0", index: nil)
        let bound = ProbeGate.Binding(name: "eth0", index: 7)
        #expect(ProbeGate.decide(.any, target: nil, internet: nil) == .open(nil))
        #expect(ProbeGate.decide(.any, target: up, internet: nil) == .open(nil))
        #expect(ProbeGate.decide(.any, target: down, internet: nil) == .closed(.noPath))
        #expect(ProbeGate.decide(byInterface, target: up, internet: nil) == .open(eth0))
        #expect(ProbeGate.decide(byInterface, target: nil, internet: nil) == .open(eth0))
        #expect(ProbeGate.decide(byInterface, target: down, internet: nil) == .closed(.interface))
        #expect(ProbeGate.decide(try NetworkCondition("wired"), target: up, internet: nil) == .open(bound))
        #expect(ProbeGate.decide(try NetworkCondition("wifi"), target: up, internet: nil) == .closed(.linkClass))
        #expect(ProbeGate.decide(try NetworkCondition("wifi"), target: nil, internet: nil) == .closed(.linkClass))
        #expect(ProbeGate.decide(try NetworkCondition("wired"), target: down, internet: nil) == .closed(.noPath))
    }

    @Test func `a network opens the gate, and another one closes it`() throws {
        var office = try ControllerScene.state("192.0.2.1", .reachable)
        office.ipv4.network = "office"
        let bound = ProbeGate.open(.init(name: "eth0", index: 7))
        for (text, expected) in [
            ("network=office", bound), ("network=home", .closed(.network)), ("not network=office", .closed(.network)),
            ("not network=home", bound), ("network=office, wifi", .closed(.linkClass)),
        ] as [(String, ProbeGate)] {
            #expect(ProbeGate.decide(try NetworkCondition(text), target: office, internet: nil) == expected, "\(text)")
        }
        #expect(
            ProbeGate.decide(try NetworkCondition("network=office"), target: Self.reachable, internet: nil)
                == .closed(.network), "a network that nothing identifies")
    }

    @Test func `of several paths the best that satisfies the condition opens the gate`() throws {
        let modem = try ControllerScene.state("192.0.2.1", .reachable, by: "wwan0", .wwan)
        let wwan = try NetworkCondition("wwan")
        let bound = ProbeGate.Binding(name: "wwan0", index: 7)
        #expect(ProbeGate.decide(wwan, target: Self.reachable, chosen: modem, internet: nil) == .open(bound))
        #expect(ProbeGate.decide(wwan, target: Self.gone, chosen: modem, internet: nil) == .open(bound))
        #expect(ProbeGate.decide(wwan, target: Self.reachable, chosen: Self.gone, internet: nil) == .closed(.linkClass))
        #expect(ProbeGate.decide(wwan, target: Self.gone, chosen: Self.gone, internet: nil) == .closed(.noPath))
        var specification = try ControllerScene.specification("web")
        #expect(specification.pathCondition == nil)
        specification.condition = try NetworkCondition("wwan, validated")
        #expect(specification.pathCondition == wwan)
        specification.condition = try NetworkCondition("wwan, interface=wwan0")
        #expect(specification.pathCondition == nil)
    }

    @Test func `a class opens the gate to a tunnel that it carries, as in every condition`() throws {
        var tunnelled = try ControllerScene.state("192.0.2.1", .reachable, by: "wg0", .tunnel)
        tunnelled.ipv4.carrierClass = .wifi
        let bound = ProbeGate.open(.init(name: "wg0", index: 7))
        for (term, gate) in [("wifi", bound), ("tunnel", bound), ("wwan", .closed(.linkClass))] {
            #expect(ProbeGate.decide(try NetworkCondition(term), target: tunnelled, internet: nil) == gate)
        }
    }

    @Test func `a probe by an interface goes past no tunnel, unless the configuration lets it`() throws {
        let byInterface = try NetworkCondition("interface=eth0")
        var unbound = try ControllerScene.state("192.0.2.1", .reachable, by: "wg0", .tunnel)
        unbound.ipv4.traits.isTunnelled = true
        let up = Self.reachable
        #expect(ProbeGate.decide(byInterface, target: up, unbound: unbound, internet: nil) == .closed(.tunnel))
        var allowed = try ControllerScene.state("192.0.2.1", .reachable)
        allowed.ipv4.traits.passesTunnels = true
        let eth0 = ProbeGate.open(.init(name: "eth0", index: nil))
        #expect(ProbeGate.decide(byInterface, target: allowed, unbound: unbound, internet: nil) == eth0)
        let byTunnel = try NetworkCondition("interface=wg0")
        let wg0 = ProbeGate.open(.init(name: "wg0", index: nil))
        #expect(ProbeGate.decide(byTunnel, target: unbound, unbound: unbound, internet: nil) == wg0)
        #expect(ProbeGate.decide(byInterface, target: up, unbound: up, internet: nil) == eth0)
    }

    @Test func `a probe by an interface watches the path by that interface`() throws {
        var specification = try ControllerScene.specification("web")
        specification.condition.interface = "wwan0"
        #expect(specification.watchedTarget.description == "192.0.2.1%wwan0")
        specification.target = try ProbeTarget("http://web.example/")
        #expect(specification.watchedTarget.description == "interface:wwan0")
    }
}
