import ReachCore
import ReachRecords
import Testing

@testable import reach

/// What a provider asks: who the customer is, over which links and routers, what tests found, and whether the clock was
/// right.
@Suite struct ReportFactsTests {
    private typealias Example = ExampleReport

    /// Two days over a cable, then a third over a modem whose clock's machine is set.
    private static func log() -> HistoryLog {
        func state(_ interface: String, _ linkClass: String, _ gateway: String) -> HistoryEntry.Content {
            var state = HistoryEntry.State(
                target: "internet", status: .reachable, linkClass: linkClass, interface: interface, connectivity: "full"
            )
            state.gateway = gateway
            return .state(state)
        }
        let day = Example.day
        let down = HistoryEntry.State(
            target: "internet", status: .reachable, linkClass: "wired", interface: "eth0", connectivity: "limited")
        let evidence = OutageEvidence(
            target: "internet", outcome: "failed", party: "provider", text: "nothing answers behind 192.0.2.1",
            steps: ["gateway ok: 192.0.2.1 answers", "internet failed: none of 3 answers"])
        let records: [(HistoryEntry.Content, Int)] = [
            (.started(lastSeen: nil), 0), (state("eth0", "wired", "192.0.2.1"), 0), (.state(down), day),
            (.evidence(evidence), day + 30), (state("eth0", "wired", "192.0.2.1"), day + 3600),
            (state("wwan0", "wwan", "198.51.100.1"), 2 * day),
        ]
        return HistoryLog(entries: records.map { HistoryEntry($0.0, at: Example.moment($0.1), boot: "boot") })
    }

    private static func report(_ labels: ReportLabels = ReportLabels(), since: Timestamp? = nil) -> Report {
        Example.report(log(), .absent("the journal is off"), since: since, labels: labels)
    }

    @Test func `a report has its title, the customer's number and the line's address`() {
        let labels = ReportLabels(title: "Line 7", customer: "4711", publicAddress: IPAddress("203.0.113.9"))
        let rows = Self.report(labels).particulars.map { "\($0.name): \($0.text)" }
        #expect(rows.prefix(3) == ["Machine: lodge", "Customer number: 4711", "Public address: 203.0.113.9"])
        #expect(Example.html(Self.report(labels)).contains("<h1>Line 7</h1>"))
    }

    @Test func `each link has its share of the time with a path, and the gateways are those of the period`() {
        let facts = Self.report().facts
        #expect(facts.links.map(\.interface) == ["eth0", "wwan0"])
        #expect(abs((facts.links.first?.share ?? 0) - 2.0 / 3) < 0.001)
        #expect(facts.gateways.map(\.address) == ["192.0.2.1", "198.51.100.1"])
        let late = Self.report(since: Example.time(2 * Example.day + 60)).facts
        #expect(late.gateways.map(\.address) == ["198.51.100.1"] && late.links.map(\.interface) == ["wwan0"])
    }

    @Test func `an outage has the gateway and what tests found meanwhile, in every form`() throws {
        let report = Self.report()
        let outage = try #require(report.outages.first)
        #expect(outage.tests?.party == "provider")
        #expect(outage.sentenceWithTests.hasSuffix("; tests found: nothing answers behind 192.0.2.1"))
        let html = Example.html(report)
        #expect(html.contains("<li>internet failed: none of 3 answers</li>"))
        #expect(ReportTable(report).text.contains("nothing answers behind 192.0.2.1"))
        var json = JSONWriter()
        json.report(report, at: Example.moment(0))
        let tests = try JSONReader.read(json.bytes)["outages"]?.array?.first?["tests"]
        #expect(tests?["outcome"]?.string == "failed" && tests?["steps"]?.array?.count == 2)
    }

    @Test func `what tests found has a limit, whatever servers say`() {
        let long = String(repeating: "x", count: 100_000)
        let evidence = OutageEvidence(
            target: "internet", outcome: "failed", party: nil, text: long, steps: [String](repeating: long, count: 100))
        #expect(evidence.text.utf8.count < 400 && evidence.steps.count == OutageEvidence.mostSteps)
        #expect(evidence.steps.allSatisfy { $0.utf8.count < 400 })
    }

    @Test func `a clock that was set is found, and one that a time server corrects slowly is not`() {
        func entry(_ boot: Int64, wall: Int64) -> HistoryEntry {
            HistoryEntry(
                .stopped,
                at: Instant(
                    wall: Timestamp(nanosecondsSince1970: (Example.begin + wall) * 1_000_000_000),
                    boot: BootTime(nanoseconds: boot * 1_000_000_000)), boot: "boot")
        }
        func facts(_ entries: [HistoryEntry]) -> ClockFacts {
            let clock = HistoryClock(entries, now: Example.moment(3 * Example.day), boot: "other")
            return ClockFacts(
                entries, clock, from: Example.time(-Example.day), to: Example.time(3 * Example.day), isSynchronized: nil
            )
        }
        let set = facts([entry(0, wall: -5000), entry(10, wall: 10), entry(20, wall: 20)])
        #expect(set.steps == 1 && set.largest == .seconds(5000))
        let slow = facts([entry(0, wall: 0), entry(86_400, wall: 86_430)])
        #expect(slow.steps == 0)
        #expect(facts([entry(0, wall: .min / 2_000_000_000), entry(10, wall: 10)]).steps <= 1)
    }

    @Test func `labels that look like markup or formulas are text`() {
        let labels = ReportLabels(title: "<script>x</script>", customer: "=1+1")
        let report = Self.report(labels)
        #expect(!Example.html(report).contains("<script>"))
        #expect(ReportTable(report).text.contains("Customer number,'=1+1"))
    }
}
