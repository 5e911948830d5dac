import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct OutageJudgeTests {
    private var script = HistoryScript()

    private mutating func add(_ connectivity: String?, at second: Int, interface: String = "eth0") {
        let state = HistoryEntry.State(
            target: "internet", status: .reachable, linkClass: "wired", interface: interface, connectivity: connectivity
        )
        script.add(.state(state), at: second)
    }

    private mutating func lose(_ reason: String, at second: Int) {
        script.add(
            .state(HistoryEntry.State(target: "internet", status: .notReachable, reason: reason)), at: second)
    }

    /// The outages as text, such as `10-20 internet limited`.
    private func outages(now: Int) -> [String] {
        HistorySummary(script.timeline(now: now)).outages.map { outage in
            let (from, to) = (outage.from.nanosecondsSince1970, outage.to.nanosecondsSince1970)
            return
                "\(from / 1_000_000_000)-\(to / 1_000_000_000) \(outage.cause.layer.rawValue) \(outage.cause.evidence)"
        }
    }

    @Test mutating func `an outage of the provider is an outage though the kernel has a path`() {
        add("full", at: 0)
        add("limited", at: 100)
        add("full", at: 400)
        #expect(script.timeline(now: 1000).shown == "0-100 up, 100-400 down, 400-1000 up")
        #expect(outages(now: 1000) == ["100-400 internet limited"])
    }

    @Test mutating func `where names alone fail, the outage is of the name, and other targets have none`() throws {
        add("full", at: 0)
        var state = HistoryEntry.State(
            target: "internet", status: .reachable, linkClass: "wired", interface: "eth0", connectivity: "limited")
        state.connectivityReason = "name-not-resolved"
        script.add(.state(state), at: 100)
        add("full", at: 400)
        #expect(outages(now: 1000) == ["100-400 name name-not-resolved"])
        let cause = try #require(HistorySummary(script.timeline(now: 1000)).outages.first?.cause)
        #expect(cause.sentence == "names are not resolved, though the Internet answers")
        state.connectivityReason = "a-word-of-a-later-version"
        script.add(.state(state), at: 2000)
        #expect(outages(now: 3000).last == "2000-3000 internet limited")
    }

    @Test mutating func `each way to fail is of its layer`() {
        let layers: [(String, String)] = [
            ("no-carrier", "link"), ("dormant", "link"), ("link-down", "link"), ("no-interface", "link"),
            ("no-address", "address"), ("no-route", "route"), ("blackhole", "route"), ("unreachable", "route"),
            ("prohibited", "route"), ("gateway-unreachable", "gateway"), ("neighbour-unreachable", "gateway"),
            ("name-not-resolved", "name"), ("http-status", "target"), ("a-word-of-a-later-version", "target"),
        ]
        for (number, (reason, _)) in layers.enumerated() {
            lose(reason, at: number * 20)
            add(nil, at: number * 20 + 10)
        }
        #expect(
            outages(now: 10_000)
                == layers.enumerated().map { "\($0 * 20)-\($0 * 20 + 10) \($1.1) \($1.0)" })
    }

    @Test mutating func `a probe's word is no word of a path, however it is spelt`() throws {
        let layers: [(String, String, String)] = [
            ("unreachable", "target", "it was reported unreachable"),
            ("timeout", "target", "it did not answer in time"),
            ("name-not-resolved", "name", "the name could not be resolved"), ("no-route", "target", "no-route"),
            ("a-word-of-a-later-version", "target", "a-word-of-a-later-version"),
        ]
        for (number, (word, layer, sentence)) in layers.enumerated() {
            let target = HistoryEntry.target(ofProbe: "nas\(number)")
            var state = HistoryEntry.State(target: target, status: .notReachable, reason: word)
            #expect(state.reason == .probe(word) && HistoryEntry.probe(ofTarget: target) == "nas\(number)")
            script.add(.state(state), at: 10)
            state = HistoryEntry.State(target: "nas", status: .notReachable, reason: word)
            #expect(state.reason == .path(word) && HistoryEntry.probe(ofTarget: "nas") == nil)
            let cause = try #require(HistorySummary(script.timeline(target, now: 20)).outages.first?.cause)
            #expect(cause.layer.rawValue == layer && cause.sentence == sentence && cause.evidence == word)
        }
        let sentences = Set(ProbeFailure.allCases.map(\.sentence))
        #expect(sentences.count == ProbeFailure.allCases.count)
    }

    @Test mutating func `a route that went with its link is an outage of the link`() {
        var state = HistoryEntry.State(target: "internet", status: .notReachable, reason: "no-route")
        state.rootCause = "no-carrier"
        state.rootInterface = "eth0"
        script.add(.state(state), at: 0)
        add(nil, at: 10)
        state.rootCause = "no-default-route"
        script.add(.state(state), at: 20)
        add(nil, at: 30)
        state.rootCause = "a-word-of-a-later-version"
        script.add(.state(state), at: 40)
        #expect(outages(now: 50) == ["0-10 link no-route", "20-30 route no-route", "40-50 route no-route"])
        let causes = HistorySummary(script.timeline(now: 50)).outages.map(\.cause.sentence)
        #expect(causes == ["eth0 has no carrier", "no route", "no route"])
    }

    @Test mutating func `a login page and a check that cannot be sent are outages`() {
        add("portal", at: 0)
        add("full", at: 10)
        add("none", at: 20)
        #expect(outages(now: 30) == ["0-10 portal portal", "20-30 internet none"])
    }

    @Test mutating func `without checks the kernel decides`() {
        add(nil, at: 0)
        lose("no-carrier", at: 10)
        add(nil, at: 20)
        #expect(outages(now: 30) == ["10-20 link no-carrier"])
    }

    @Test mutating func `an outage names the lowest layer that was found broken while it lasted`() {
        add("full", at: 0)
        add("limited", at: 10)
        lose("no-carrier", at: 20)
        lose("no-route", at: 21)
        add("unknown", at: 30)
        add("full", at: 31)
        #expect(outages(now: 60) == ["10-31 link no-carrier"])
    }

    @Test mutating func `a return that a check disproves is no return`() {
        add("full", at: 0)
        lose("no-carrier", at: 10)
        add("unknown", at: 20)
        add("limited", at: 25)
        add("unknown", at: 30)
        add("limited", at: 36)
        add("unknown", at: 40)
        add("full", at: 41)
        #expect(outages(now: 60) == ["10-41 link no-carrier"])
    }

    @Test mutating func `a return about which no check decides counts from its begin`() {
        add("limited", at: 0)
        add("unknown", at: 100, interface: "wwan0")
        #expect(outages(now: 109) == ["0-109 internet limited"])
        #expect(outages(now: 110) == ["0-100 internet limited"])
        lose("no-route", at: 200)
        #expect(outages(now: 210) == ["0-100 internet limited", "200-210 route no-route"])
    }

    @Test mutating func `after a restart in an outage the first check decides`() {
        add("limited", at: 0)
        script.add(.stopped, at: 50)
        script.add(.started(lastSeen: nil), at: 60)
        add("unknown", at: 60)
        add("limited", at: 65)
        add("full", at: 80)
        #expect(
            script.timeline(now: 100).shown == "0-50 down, 50-60 notObserved, 60-65 unknown, 65-80 down, 80-100 up")
        #expect(outages(now: 100) == ["0-80 internet limited"])
    }

    @Test mutating func `a check that begins on a path that works changes nothing`() {
        add("full", at: 0)
        add("unknown", at: 50)
        add("full", at: 51)
        #expect(script.timeline(now: 100).shown == "0-100 up")
    }

    @Test mutating func `the paths stay in the timeline while the Internet does not answer`() {
        add("full", at: 0)
        add("limited", at: 10)
        #expect(script.timeline(now: 20).passages.map(\.interface) == ["eth0"])
    }

    @Test func `loss and return are noticed once each, and an unproved return after its time`() {
        var notices = OutageNotices()
        var machine = StatusMachine(target: .internet, at: .at(0))
        var seen: [String] = []
        func note(_ notice: OutageNotices.Notice?, _ second: Int) {
            switch notice {
            case .lost(let cause)?: seen.append("\(second) lost \(cause.layer.rawValue)")
            case .regained(let duration)?: seen.append("\(second) back after \(duration.components.seconds)")
            case nil: break
            }
        }
        func observe(_ change: ReachabilityChange?, _ second: Int) {
            if let change { note(notices.observe(change), second) }
        }
        observe(machine.see(.eth0, at: 0), 0)
        func prove(_ connectivity: Connectivity, _ second: Int) {
            let report = ConnectivityReport(ipv4: connectivity)
            observe(machine.setConnectivity(report, cause: .probe, at: .at(Double(second))), second)
        }
        prove(.full, 1)
        prove(.limited, 10)
        prove(.portal, 20)
        prove(.full, 30)
        prove(.limited, 40)
        prove(.unknown, 50)
        #expect(notices.deadline == .at(60))
        note(notices.timeReached(at: .at(59)), 59)
        note(notices.timeReached(at: .at(60)), 60)
        #expect(seen == ["10 lost internet", "30 back after 20", "40 lost internet", "60 back after 10"])
    }
}
