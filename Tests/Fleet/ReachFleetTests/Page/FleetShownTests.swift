import ReachCore
import ReachFleet
import ReachTesting
import Testing

/// Everything that a reader of a made-up fleet gets: the page's data, metrics, outages, and a report.
struct FleetShownTests {
    private static let page = ExamplePage.page(hosts: 48)

    @Test func `the page's data is this, whole`() throws {
        let html = String(decoding: Self.page.html(nonce: "n"), as: UTF8.self)
        let start = try #require(html.firstRange(of: "id=\"data\">"))
        let end = try #require(html[start.upperBound...].firstRange(of: "</script>"))
        let data = html[start.upperBound..<end.lowerBound].split(separator: "],[").joined(separator: "],\n[")
        #expect(ShownText.difference(of: data + "\n", from: "fleet-page.txt") == nil)
    }

    @Test func `the metrics are these, and no others`() {
        let text = String(decoding: FleetMetrics.text(Self.page), as: UTF8.self)
        #expect(ShownText.difference(of: text, from: "fleet-metrics.txt") == nil)
    }

    @Test func `each outage is this for programs`() {
        let page = ExamplePage.page(hosts: 300)
        let lines = page.outages.map { outage in
            var json = JSONWriter()
            json.outage(outage, hosts: page.hosts.map { $0.name ?? $0.id })
            return String(decoding: json.bytes, as: UTF8.self) + "\n"
        }
        #expect(ShownText.difference(of: lines.joined(), from: "fleet-outages.txt") == nil)
    }

    @Test func `a report is this as JSON, as a table and as a page`() {
        let report = ExampleReport.make()
        var json = JSONWriter()
        json.fleetReport(report)
        let page = String(decoding: FleetReportPage(report) { $0.description }.html(nonce: "n"), as: UTF8.self)
        let texts = [
            "# JSON", String(decoding: json.bytes, as: UTF8.self), "# table",
            FleetReportCSV.text(report).split(separator: "\r\n").joined(separator: "\n"), "# page", page,
        ]
        #expect(ShownText.difference(of: texts.joined(separator: "\n") + "\n", from: "fleet-report.txt") == nil)
    }
}
