import ReachCore
import ReachLoop
import Testing

@testable import ReachDaemon
import ReachRecords

/// When the way is tested in an outage.
@Suite struct OutageTesterTests {
    private func time(_ seconds: Int64) -> BootTime { BootTime(nanoseconds: seconds * 1_000_000_000) }

    @Test func `an outage is tested once it has lasted, and outages that follow each other seldom`() {
        #expect(OutageTester.time(at: time(100), after: nil) == time(110))
        #expect(OutageTester.time(at: time(200), after: time(110)) == time(710))
        #expect(OutageTester.time(at: time(900), after: time(110)) == time(910))
    }

    @Test func `an outage that ends before is not tested`() throws {
        let loop = try EventLoop()
        let tester = OutageTester(on: loop, test: { { nil } }, record: { _ in Issue.record("it was tested") })
        tester.begin()
        tester.begin()
        tester.end()
        loop.schedule(at: SystemClock.boot + .milliseconds(10)) { loop.stop() }
        loop.run()
    }

    @Test func `what a diagnosis found is kept step by step`() {
        let diagnosis = Diagnosis(
            target: "internet", outcome: .failed,
            blame: Diagnosis.Blame(.provider, .internet, .internet, "nothing answers beyond 192.0.2.1"),
            steps: [
                Diagnosis.Step(.gateway, .good, "192.0.2.1 answers.", duration: .microseconds(620)),
                Diagnosis.Step(.internet, .bad, "None of 3 endpoints answers."),
            ])
        let evidence = OutageEvidence(diagnosis, of: "internet")
        #expect(evidence.party == "provider" && evidence.text == "nothing answers beyond 192.0.2.1")
        #expect(
            evidence.steps == [
                "gateway good: 192.0.2.1 answers. (0.62 ms)", "internet bad: None of 3 endpoints answers.",
            ])
    }
}
