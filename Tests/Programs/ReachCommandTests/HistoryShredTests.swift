import ReachCore
import ReachRecords
import ReachTesting
import Testing

@testable import reach

/// A cable that is plugged in again brings its address, its routes and its gateway back one after another.
@Suite struct HistoryShredTests {
    private var script = HistoryScript()

    private mutating func add(_ status: ReachabilityStatus, _ reason: String? = nil, at millisecond: Int) {
        script.add(HistoryEntry.State(target: "internet", status: status, reason: reason), atMillisecond: millisecond)
    }

    private mutating func replug() {
        add(.reachable, at: 1000)
        add(.notReachable, "no-carrier", at: 10_000)
        add(.notReachable, "no-address", at: 20_000)
        add(.reachable, at: 20_004)
        add(.notReachable, "gateway-unreachable", at: 20_009)
        add(.reachable, at: 20_300)
    }

    @Test mutating func `one replugged cable is one outage`() {
        replug()
        let timeline = script.timeline(now: 60)
        let outages = timeline.spans.filter { $0.observation == .down }
        #expect(outages.map(\.duration) == [.milliseconds(10_300)])
        #expect(outages.first?.cause?.layer == .link)
    }

    @Test mutating func `a failure of a moment on the way back is no row of its own`() {
        replug()
        let rows = HistoryRow.rows(
            of: script.log, matching: HistoryQuery(), now: script.now(60), boot: script.currentBoot)
        let reasons = rows.compactMap { row -> String? in
            guard case .state(let state) = row.content else { return nil }
            return state.reason?.word ?? state.status.rawValue
        }
        #expect(reasons == ["reachable", "no-carrier", "reachable"])
        #expect(rows[1].lasted == .milliseconds(10_300))
    }

    @Test mutating func `failures of moments one after another all belong to the outage before`() {
        add(.reachable, at: 1000)
        add(.notReachable, "no-carrier", at: 10_000)
        add(.reachable, at: 20_000)
        add(.notReachable, "no-address", at: 20_004)
        add(.notReachable, "gateway-unreachable", at: 20_009)
        add(.reachable, at: 20_300)
        let rows = HistoryRow.rows(
            of: script.log, matching: HistoryQuery(), now: script.now(60), boot: script.currentBoot)
        #expect(rows.compactMap(\.lasted) == [9000, 10_300].map { .milliseconds($0) })
    }

    @Test mutating func `a second replugged cable right after the first is one outage of its own`() {
        replug()
        add(.notReachable, "no-carrier", at: 40_000)
        add(.reachable, at: 45_000)
        add(.notReachable, "gateway-unreachable", at: 45_010)
        add(.reachable, at: 45_300)
        let rows = HistoryRow.rows(
            of: script.log, matching: HistoryQuery(), now: script.now(60), boot: script.currentBoot)
        #expect(rows.compactMap(\.lasted) == [9000, 10_300, 19_700, 5300].map { .milliseconds($0) })
    }

    @Test mutating func `two outages with a second of use between them are two`() {
        add(.reachable, at: 1000)
        add(.notReachable, "no-carrier", at: 10_000)
        add(.reachable, at: 12_000)
        add(.notReachable, "no-carrier", at: 13_000)
        add(.reachable, at: 14_000)
        #expect(script.timeline(now: 60).spans.count { $0.observation == .down } == 2)
    }
}
