import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

struct SilentPathsTests {
    /// Two ways to the Internet that no check has proved.
    private static let first = QueuePath.wired.with { $0.isValidated = false }
    private static let second = QueuePath.wifi.with { $0.isValidated = false }

    private func stage(_ paths: [QueuePath] = [first, second], tunnels: [String] = []) -> QueueStage {
        var stage = QueueStage()
        stage.network(paths, tunnels: tunnels)
        stage.pass(.seconds(30))
        return stage
    }

    /// The interface of the last attempt.
    private func last(_ stage: QueueStage) -> String? { stage.starts.last?.order.path.interface }

    /// Lets an attempt fail in silence.
    private func fail(_ id: RequestID, after time: Duration = .seconds(10), in stage: inout QueueStage) {
        stage.pass(time)
        stage.fail(id, .transient)
        if let path = stage.checks.last {
            stage.send(.pathChecked(interfaceIndex: path.interfaceIndex, works: true))
        }
        stage.pass(.seconds(2))
    }

    @Test func `what is silent by the first way is tried by the second, and what answers there stays there`() throws {
        var stage = stage()
        let id = try stage.add()
        #expect(last(stage) == "eth0")
        fail(id, in: &stage)
        #expect(last(stage) == "wlan0")
        stage.answer(id)
        let next = try stage.add("https://b.example/")
        #expect(last(stage) == "wlan0")
        stage.answer(next)
    }

    @Test func `the first way is tried again after a minute by one request, and then after ever longer`() throws {
        var stage = stage()
        let id = try stage.add()
        fail(id, in: &stage)
        stage.answer(id)
        stage.pass(.seconds(61))
        let ids = try (0..<6).map { try stage.add("https://a.example/\($0)") }
        let trials = stage.starts.filter { ids.contains($0.order.id) }
        #expect(trials.count == 1 && trials[0].order.path.interface == "eth0", "one shows whether it works")
        fail(trials[0].order.id, after: .milliseconds(900), in: &stage)
        var answered: Set<RequestID> = []
        for _ in 0..<100 where answered.count < ids.count {
            for start in stage.starts where ids.contains(start.order.id) && start.order.path.interface == "wlan0" {
                if answered.insert(start.order.id).inserted { stage.answer(start.order.id) }
            }
            stage.pass(.milliseconds(100))
        }
        #expect(answered == Set(ids))
        #expect(stage.starts.count { ids.contains($0.order.id) && $0.order.path.interface == "eth0" } == 1)
        stage.pass(.seconds(60))
        try stage.answer(stage.add("https://c.example/"))
        #expect(last(stage) == "wlan0", "two minutes have not passed")
        stage.pass(.seconds(60))
        try stage.answer(stage.add("https://d.example/"))
        #expect(last(stage) == "eth0")
        try stage.add("https://e.example/")
        #expect(last(stage) == "eth0", "it answers again")
    }

    @Test func `a server that is silent by both is to blame, and the order stays`() throws {
        var stage = stage()
        let dead = try stage.add("https://dead.example/")
        fail(dead, in: &stage)
        #expect(last(stage) == "wlan0")
        fail(dead, in: &stage)
        stage.pass(.seconds(30))
        #expect(last(stage) == "eth0")
        fail(dead, in: &stage)
        stage.pass(.seconds(30))
        #expect(last(stage) == "eth0", "it is not tried by the second again")
        let other = try stage.add("https://b.example/")
        stage.pass(.seconds(3))
        #expect(stage.starts.last { $0.order.id == other }?.order.path.interface == "eth0")
    }

    @Test func `a server that neither way reached raises no suspicion until it has answered`() throws {
        let host = try Destination(url: "https://a.example/")
        for isAnswered in [false, true] {
            var silent = SilentPaths()
            #expect(silent.note(silenceOf: host, by: 2, at: .at(0)) && silent.note(silenceOf: host, by: 3, at: .at(10)))
            #expect(silent.isEmpty)
            if isAnswered { #expect(silent.note(answerOf: host, by: 3, at: .at(20)) == false) }
            #expect(silent.note(silenceOf: host, by: 2, at: .at(40)) == isAnswered)
        }
    }

    @Test func `a server that is silent where others answer moves nothing`() throws {
        var stage = stage()
        let dead = try stage.add("https://dead.example/")
        stage.pass(.seconds(8))
        try stage.answer(stage.add("https://b.example/"))
        fail(dead, after: .seconds(2), in: &stage)
        #expect(last(stage) == "eth0")
    }

    @Test(arguments: ["nothing", "what its path offers", "the network"])
    func `what was sent before the network or its path changed shows nothing by its silence`(changed: String) throws {
        var stage = stage()
        let id = try stage.add(when: "unmetered")
        switch changed {
        case "nothing": break
        case "the network": stage.network([Self.first, Self.second])
        default: stage.network([Self.first.with { $0.isMetered = true }, Self.second], newEpoch: false)
        }
        fail(id, after: .seconds(1), in: &stage)
        #expect((stage.queue.network.silenceEnds != nil) == (changed == "nothing"))
    }

    @Test func `no way that costs money, that is past a tunnel or that checks judge takes the place of another`() throws
    {
        let ways: [([QueuePath], [String])] = [
            ([Self.first, QueuePath.wwan.with { $0.isValidated = false }], []),
            ([Self.first, Self.second], ["eth0"]),
            ([QueuePath.wired, Self.second], []),
            ([Self.first], []),
        ]
        for (paths, tunnels) in ways {
            var stage = stage(paths, tunnels: tunnels)
            let id = try stage.add()
            fail(id, in: &stage)
            #expect(last(stage) == "eth0" && stage.starts.count == 2, "\(paths.map(\.interface))")
        }
    }

    @Test func `another network is tried by its first way`() throws {
        var stage = stage()
        let id = try stage.add()
        fail(id, in: &stage)
        stage.answer(id)
        stage.network([Self.first.with { $0.sources = [IPAddress(ipv4: 0xC000_0277)] }, Self.second])
        stage.pass(.seconds(5))
        try stage.add("https://b.example/")
        #expect(last(stage) == "eth0")
    }
}
