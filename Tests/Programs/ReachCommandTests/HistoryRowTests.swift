import ReachCore
import ReachRecords
import ReachTesting
import Testing

@testable import reach

@Suite struct HistoryRowTests {
    private var script = HistoryScript()

    private func rows(_ query: HistoryQuery = HistoryQuery(), now: Int) -> [String] {
        HistoryRow.rows(of: script.log, matching: query, now: script.now(now), boot: script.currentBoot).map { row in
            let what =
                switch row.content {
                case .state(let state): "\(state.target) \(state.status.rawValue)"
                case let other: "\(other)"
                }
            let lasted = row.lasted.map { " for \($0.components.seconds)" } ?? ""
            return "\(row.time.nanosecondsSince1970 / 1_000_000_000) \(what)\(lasted)"
        }
    }

    @Test mutating func `each state has its duration, except the last one`() {
        script.add(.reachable, at: 10)
        script.add(.notReachable, at: 15, target: "other")
        script.add(.notReachable, at: 40)
        script.add(.unwatched(target: "other"), at: 50)
        #expect(
            rows(now: 60) == [
                "10 internet reachable for 30", "15 other not-reachable for 35", "40 internet not-reachable",
                "50 unwatched(target: \"other\")",
            ])
    }

    @Test mutating func `a query omits other targets and older times, and keeps records of the daemon`() {
        script.add(.started(lastSeen: nil), at: 5)
        script.add(.reachable, at: 10)
        script.add(.reachable, at: 12, target: "other")
        script.add(.notReachable, at: 40)
        script.add(.stopped, at: 50)
        #expect(
            rows(HistoryQuery(since: .seconds(25), target: "internet"), now: 60) == [
                "40 internet not-reachable for 10", "50 stopped",
            ])
        #expect(
            rows(HistoryQuery(target: "other"), now: 60) == [
                "5 started(lastSeen: nil)", "12 other reachable for 38", "50 stopped",
            ])
    }

    @Test mutating func `another interface or class is a row of its own`() {
        var state = HistoryEntry.State(target: "internet", status: .reachable, linkClass: "wired", interface: "eth0")
        script.add(.state(state), at: 10)
        state.interface = "wlan0"
        script.add(.state(state), at: 20)
        state.linkClass = "wwan"
        script.add(.state(state), at: 40)
        #expect(
            rows(now: 60) == ["10 internet reachable for 10", "20 internet reachable for 20", "40 internet reachable"])
    }

    @Test mutating func `a cable that is pulled is one row, with the probes that it took along`() {
        let probes = (1...6).map { HistoryEntry.target(ofProbe: "p\($0)") }
        func state(_ target: String, _ status: ReachabilityStatus, _ reason: String? = nil) -> HistoryEntry.State {
            HistoryEntry.State(target: target, status: status, reason: reason)
        }
        script.add(state("internet", .reachable), atMillisecond: 10_000)
        for probe in probes { script.add(state(probe, .reachable), atMillisecond: 12_000) }
        for probe in probes { script.add(state(probe, .unknown, "no-path"), atMillisecond: 29_995) }
        script.add(state("internet", .notReachable, "no-carrier"), atMillisecond: 30_000)
        #expect(rows(now: 35).count == 8, "while it lasts")
        script.add(state("internet", .reachable), atMillisecond: 40_000)
        for probe in probes.dropLast() { script.add(state(probe, .reachable), atMillisecond: 40_005) }
        script.add(state(probes[5], .unknown), atMillisecond: 40_005)
        script.add(state(probes[5], .notReachable, "timeout"), atMillisecond: 45_000)
        #expect(
            rows(now: 60) == ["10 internet reachable for 20"] + probes.dropLast().map { "12 \($0) reachable" }
                + [
                    "12 probe:p6 reachable for 17", "30 internet not-reachable for 10", "40 internet reachable",
                    "40 probe:p6 unknown for 4", "45 probe:p6 not-reachable",
                ])
        let all = HistoryRow.rows(
            of: script.log, matching: HistoryQuery(), now: script.now(60), boot: script.currentBoot)
        #expect(all.first { !$0.tookAlong.isEmpty }?.tookAlong == probes)
        #expect(rows(HistoryQuery(target: probes[0]), now: 60).count == 3, "asked for by itself, it is whole")
    }

    @Test mutating func `a pause that no outage explains is a row, and so is each of two cables`() {
        func state(_ target: String, _ status: ReachabilityStatus, _ reason: String? = nil) -> HistoryEntry.State {
            HistoryEntry.State(target: target, status: status, reason: reason)
        }
        script.add(.state(state("internet", .reachable)), at: 10)
        script.add(.state(state("probe:nas", .reachable)), at: 10)
        script.add(.state(state("probe:nas", .unknown, "metered")), at: 20)
        script.add(.state(state("probe:nas", .reachable)), at: 30)
        for time in [40, 60] {
            script.add(.state(state("internet", .notReachable, "no-carrier")), at: time)
            script.add(.state(state("probe:nas", .unknown, "no-path")), at: time)
            script.add(.state(state("internet", .reachable)), at: time + 5)
            script.add(.state(state("probe:nas", .reachable)), at: time + 5)
        }
        script.add(.state(state("probe:nas", .unknown, "no-path")), at: 80)
        #expect(
            rows(now: 90) == [
                "10 internet reachable for 30", "10 probe:nas reachable for 10", "20 probe:nas unknown for 10",
                "30 probe:nas reachable for 40", "40 internet not-reachable for 5", "45 internet reachable for 15",
                "60 internet not-reachable for 5", "65 internet reachable", "80 probe:nas unknown",
            ])
    }

    @Test mutating func `a network that becomes known makes no row, another one does`() {
        var state = HistoryEntry.State(target: "internet", status: .reachable, linkClass: "wifi", interface: "wlan0")
        for (time, network) in [(10, nil), (11, "office"), (30, "home"), (40, nil), (41, "net-0123456789abcdef")] {
            state.network = network
            script.add(.state(state), at: time)
        }
        #expect(
            rows(now: 60) == [
                "10 internet reachable for 20", "30 internet reachable for 10", "40 internet reachable",
            ])
    }

    /// The rows' network, connectivity and quality.
    private func contents(now: Int) -> [[String?]] {
        HistoryRow.rows(of: script.log, matching: HistoryQuery(), now: script.now(now), boot: script.currentBoot).map {
            guard case .state(let state) = $0.content else { return [] }
            return [state.network, state.connectivity, state.quality]
        }
    }

    @Test mutating func `what becomes known of a path later belongs to its row`() {
        var state = HistoryEntry.State(
            target: "internet", status: .reachable, interface: "wlan0", connectivity: "unknown")
        script.add(.state(state), at: 10)
        state.network = "office"
        script.add(.state(state), at: 11)
        state.connectivity = "full"
        script.add(.state(state), at: 12)
        state.quality = "good"
        script.add(.state(state), at: 13)
        #expect(contents(now: 60) == [["office", "full", "good"]])
        // What is found later is news.
        state.quality = "lossy"
        script.add(.state(state), at: 20)
        state.connectivity = "limited"
        script.add(.state(state), at: 30)
        #expect(
            contents(now: 60).dropFirst() == [["office", "full", "lossy"], ["office", "limited", "lossy"]])
        #expect(rows(now: 60).count == 3)
    }

    @Test mutating func `a line that is lossy from the start, and a check of another path, make rows`() {
        var state = HistoryEntry.State(
            target: "internet", status: .reachable, interface: "wlan0", connectivity: "unknown")
        script.add(.state(state), at: 10)
        state.quality = "lossy"
        script.add(.state(state), at: 11)
        (state.interface, state.connectivity) = ("eth0", "full")
        script.add(.state(state), at: 12)
        #expect(contents(now: 60) == [[nil, "unknown", nil], [nil, "unknown", "lossy"], [nil, "full", "lossy"]])
    }

    @Test mutating func `a check that is undecided again makes a row`() {
        var state = HistoryEntry.State(target: "internet", status: .reachable, connectivity: "unknown")
        script.add(.state(state), at: 10)
        state.connectivity = "full"
        script.add(.state(state), at: 12)
        state.connectivity = "unknown"
        script.add(.state(state), at: 13)
        #expect(contents(now: 60).map { $0[1] } == ["full", "unknown"])
    }

    @Test mutating func `lost records make a row, and figures and evidence make none`() {
        script.add(.reachable, at: 10)
        script.add(.dropped(count: 3), at: 20)
        script.add(.stopped, at: 30)
        #expect(rows(now: 60) == ["10 internet reachable for 20", "20 dropped(count: 3)", "30 stopped"])
    }

    @Test mutating func `a state copied to a new file makes no row`() {
        script.add(.reachable, at: 10)
        var carried = HistoryEntry.State(target: "internet", status: .reachable, isChange: false)
        script.add(.state(carried), at: 20)
        carried.interface = "eth1"
        script.add(.state(carried), at: 30)
        #expect(rows(now: 60) == ["10 internet reachable for 20", "30 internet reachable"])
    }

    @Test mutating func `the same state after a restart of the daemon makes a row`() {
        script.add(.reachable, at: 10)
        script.add(.stopped, at: 20)
        script.add(.state(HistoryEntry.State(target: "internet", status: .reachable, isChange: false)), at: 30)
        #expect(rows(now: 60) == ["10 internet reachable for 10", "20 stopped", "30 internet reachable"])
    }
}
