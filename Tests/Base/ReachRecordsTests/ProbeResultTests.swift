import ReachCore
import ReachRecords
import ReachTesting
import Testing

/// The values of probes: outcomes, phases, uptime.
@Suite struct ProbeResultTests {
    @Test func `each outcome comes back from its words, and a reason of a newer daemon is a general one`() {
        let outcomes: [ProbeResult.Outcome] =
            [.ok] + ProbeFailure.allCases.map { .fail($0) } + ProbeDoubt.allCases.map { .inconclusive($0) }
        for outcome in outcomes {
            #expect(ProbeResult.Outcome(word: outcome.word, reason: outcome.reason) == outcome)
        }
        #expect(Set(outcomes.map(\.word)) == ["ok", "fail", "inconclusive"])
        #expect(ProbeResult.Outcome(word: "ok", reason: "x") == .ok)
        #expect(ProbeResult.Outcome(word: "fail", reason: "x") == .fail(.protocolError))
        #expect(ProbeResult.Outcome(word: "inconclusive", reason: nil) == .inconclusive(.localError))
        #expect(ProbeResult.Outcome(word: "x", reason: nil) == nil)
    }

    @Test(arguments: [(86_400, 1), (86_399, 0), (0, 0), (-1, -1), (-86_400, -1), (-86_401, -2)])
    func `a certificate has as many whole days left`(seconds: Int64, days: Int) {
        var result = ProbeResult(.ok, started: .at(5), duration: .zero)
        #expect(result.certificateDays == nil)
        result.certificateEnd = result.started.wall + .seconds(seconds)
        #expect(result.certificateDays == days)
    }

    @Test func `phases are those that were reached, in order`() {
        var phases = ProbePhases([.processing: .seconds(3), .resolve: .seconds(1)])
        #expect(phases.reached.map(\.phase) == [.resolve, .processing])
        #expect(phases.reached.map(\.duration) == [.seconds(1), .seconds(3)])
        phases[.resolve] = nil
        #expect(phases[.resolve] == nil && phases[.processing] == .seconds(3) && phases[.transfer] == nil)
        #expect(ProbePhase.allCases.map(\.place) == Array(0..<ProbePhase.allCases.count))
        #expect(ProbePhases().reached.isEmpty)
    }

    @Test func `only time in which a target worked or failed counts as known`() {
        var uptime = ProbeUptime()
        #expect(uptime.availability == nil)
        (uptime.paused, uptime.inconclusive) = (.seconds(9), .seconds(9))
        #expect(uptime.availability == nil)
        uptime.fail = .seconds(1)
        #expect(uptime.availability == 0)
        uptime.ok = .seconds(3)
        #expect(uptime.availability == 0.75)
    }

    @Test func `of a line's round trips the tenth, the fiftieth and the ninetieth percentile are kept`() {
        #expect(QualityPeriod.Trips([]) == nil)
        let trips = QualityPeriod.Trips((0..<100).reversed().map { .milliseconds($0) })
        #expect(trips == .init(low: .milliseconds(10), median: .milliseconds(50), high: .milliseconds(90)))
        #expect(trips?.jitter == .milliseconds(40))
        let one = Duration.milliseconds(7)
        #expect(QualityPeriod.Trips([one]) == .init(low: one, median: one, high: one))
        func share(_ packets: Int, _ lost: Int) -> Double {
            QualityPeriod(interface: "a", length: .seconds(1), packets: packets, lost: lost, trips: nil).lostShare
        }
        #expect(share(0, 0) == 0 && share(4, 1) == 0.25)
    }
}
