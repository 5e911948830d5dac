import ReachCore
import ReachLoop
import ReachProbe
import Testing

/// Failures of probes that an outage of the path explains.
@Suite struct ProbeOutageTests {
    private static func survey(_ connectivity: Connectivity, ipv6: Connectivity = .none) -> ConnectivitySurvey {
        let report = ConnectivityReport(ipv4: connectivity, ipv6: ipv6)
        return ConnectivitySurvey(internet: report, interfaces: ["eth0": report])
    }

    /// A scene with a probe of a host beyond the gateway that has succeeded once.
    private func scene(_ connectivity: Connectivity = .full) throws -> ControllerScene {
        let scene = try ControllerScene()
        scene.controller.update(survey: Self.survey(connectivity))
        var specification = try ControllerScene.specification("far", "http://198.18.7.9/")
        specification.thresholds = .init(down: 2, up: 1)
        scene.controller.configure([specification])
        var state = try ControllerScene.state("198.18.7.9", .reachable)
        state.ipv4.gateway = IPAddress("192.0.2.1")
        try scene.send("198.18.7.9", state)
        scene.run { scene.attempts.count == 1 }
        scene.attempts[0].end()
        return scene
    }

    private func fail(_ scene: ControllerScene, times: Int) {
        for _ in 0..<times {
            let count = scene.attempts.count
            scene.run { scene.attempts.count > count }
            scene.attempts.last?.end(.failed(.timeout, ""))
        }
    }

    @Test func `an outage of the path pauses the probe that failed, and takes it not down`() throws {
        let scene = try scene()
        scene.isUnsettled = true
        fail(scene, times: 3)
        #expect(scene.events.map(\.kind) == [.up], "a check of the path has not ended")
        scene.controller.update(survey: Self.survey(.limited))
        #expect(scene.events.map(\.kind) == [.up, .paused])
        #expect(scene.controller.reports(at: SystemClock.now).first?.pause == .notValidated)
        scene.isUnsettled = false
        scene.controller.update(survey: Self.survey(.full))
        #expect(scene.events.map(\.kind) == [.up, .paused, .resumed])
        let count = scene.attempts.count
        scene.run { scene.attempts.count > count }
        scene.attempts.last?.end()
        #expect(scene.events.map(\.kind) == [.up, .paused, .resumed])
        scene.controller.stop()
    }

    @Test(arguments: [
        (Connectivity.limited, Connectivity.full, ProbeEvent.Kind.paused), (.full, .limited, .down),
    ])
    func `an outage of the family in which the target has its path explains the failures, and of the other one none`(
        ipv4: Connectivity, ipv6: Connectivity, kind: ProbeEvent.Kind
    ) throws {
        let scene = try scene()
        scene.isUnsettled = true
        fail(scene, times: 2)
        scene.isUnsettled = false
        scene.controller.update(survey: Self.survey(ipv4, ipv6: ipv6))
        #expect(scene.events.map(\.kind) == [.up, kind])
        scene.controller.stop()
    }

    /// A camera with a public address of IPv6, say.
    @Test(arguments: [(nil, ProbeEvent.Kind.down), ("192.0.2.1", .paused)])
    func `an outage of the Internet explains no failure of a device of the own network`(
        gateway: String?, kind: ProbeEvent.Kind
    ) throws {
        let scene = try ControllerScene()
        scene.controller.update(survey: Self.survey(.full))
        var specification = try ControllerScene.specification("camera", "http://198.18.7.9/")
        specification.thresholds = .init(down: 2, up: 1)
        specification.condition = try NetworkCondition("interface=eth0")
        scene.controller.configure([specification])
        var state = try ControllerScene.state("198.18.7.9%eth0", .reachable)
        state.ipv4.gateway = gateway.flatMap(IPAddress.init)
        try scene.send("198.18.7.9%eth0", state)
        scene.run { scene.attempts.count == 1 }
        scene.attempts[0].end()
        scene.isUnsettled = true
        fail(scene, times: 2)
        scene.isUnsettled = false
        scene.controller.update(survey: Self.survey(.limited))
        #expect(scene.events.map(\.kind) == [.up, kind])
        scene.controller.stop()
    }

    @Test func `a check that finds the path in order takes the probe down at once`() throws {
        let scene = try scene()
        scene.isUnsettled = true
        fail(scene, times: 2)
        #expect(scene.events.map(\.kind) == [.up])
        scene.isUnsettled = false
        scene.controller.reconsider()
        #expect(scene.events.map(\.kind) == [.up, .down])
        scene.controller.stop()
    }

    @Test func `a check that does not end in time holds nothing back`() throws {
        let scene = try scene()
        scene.isUnsettled = true
        scene.longestCheck = .milliseconds(400)
        fail(scene, times: 2)
        scene.run { scene.events.map(\.kind) == [.up, .down] }
        scene.controller.stop()
    }

    @Test func `a probe that is removed while a check runs leaves no timer`() throws {
        let scene = try scene()
        scene.isUnsettled = true
        fail(scene, times: 2)
        #expect(scene.loop.timerCount == 2, "for the next attempt, and for the end of the check")
        scene.controller.stop()
        #expect(scene.loop.timerCount == 0)
    }

    @Test func `where the Internet did not answer long before, a target that fails now is down`() throws {
        let scene = try scene(.limited)
        fail(scene, times: 2)
        #expect(scene.events.map(\.kind) == [.up, .down], "the target answered over this path")
        scene.controller.stop()
    }

    @Test func `a probe that must not be sent before the path is validated waits for that`() throws {
        let condition = try NetworkCondition("validated")
        let up = try ControllerScene.state("198.18.7.9", .reachable)
        func gate(_ survey: ConnectivitySurvey?) -> ProbeGate {
            ProbeGate.decide(condition, target: up, internet: nil, survey: survey)
        }
        #expect(gate(Self.survey(.full)) == .open(.init(name: "eth0", index: 7)))
        #expect(gate(Self.survey(.limited)) == .closed(.notValidated))
        #expect(gate(nil) == .closed(.notValidated))
        #expect(
            ProbeGate.decide(try NetworkCondition("unmetered"), target: nil, internet: nil) == .closed(.metered))
        var modem = up
        modem.isMetered = true
        #expect(
            ProbeGate.decide(try NetworkCondition("unmetered"), target: modem, internet: nil) == .closed(.metered))
        #expect(
            ProbeGate.decide(
                try NetworkCondition("wifi, validated"), target: up, internet: nil, survey: Self.survey(.limited))
                == .closed(.linkClass), "another path would have to come first")
    }
}
