import ReachCore
import ReachFleet
import Testing

@Suite struct FleetReportTests {
    private static let window = at(0).nanosecondsSince1970..<at(1000).nanosecondsSince1970

    private static func seconds(_ times: Availability) -> [Int64] {
        [times.up, times.presumed, times.confirmed, times.quiet, times.unknown, times.longest].map {
            $0.nanoseconds / 1_000_000_000
        }
    }

    private static func span(_ from: Double, _ to: Double) -> Availability.Span {
        at(from).nanosecondsSince1970..<at(to).nanosecondsSince1970
    }

    @Test func `what the host says and what the engine concludes are counted apart`() {
        let times = Availability(
            [
                Absence(member: 0, start: nil, end: at(100)),
                Absence(member: 0, start: at(200), end: at(250), evidence: .confirmed),
                Absence(member: 0, start: at(900)),
            ], in: Self.window)
        #expect(Self.seconds(times) == [750, 200, 50, 0, 0, 100])
        #expect(times.outages == 3)
        #expect(times.share == 0.75)
    }

    @Test func `a host is not charged for the time before it was there, nor for that in which it was switched off`() {
        let times = Availability(
            [
                Absence(member: 0, start: at(100), end: at(600)),
                Absence(member: 0, start: at(700), end: at(800), isSwitchedOff: true),
            ], unknown: [Self.span(-10, 500)], in: Self.window)
        #expect(Self.seconds(times) == [300, 100, 0, 0, 600, 100])
        #expect(Availability([], unknown: [Self.span(-10, 2000)], in: Self.window).share == nil)
    }

    @Test func `of an absence that a quiet time covers in part only the rest counts`() {
        let absence = Absence(member: 0, start: at(100), end: at(300), evidence: .confirmed)
        let part = Availability([absence], in: Self.window, quiet: [Self.span(0, 150), Self.span(140, 200)])
        #expect(Self.seconds(part) == [800, 0, 100, 100, 0, 100])
        let whole = Availability([absence], in: Self.window, quiet: [Self.span(0, 400)])
        #expect(whole.share == 1)
        #expect(whole.outages == 0)
    }

    @Test(arguments: [(1.0, "100 %"), (0.999_999, "99.99 %"), (0.5, "50.00 %"), (0, "0 %"), (0.9505, "95.05 %")])
    func `only what was never away has 100 %`(_ share: Double, _ text: String) {
        #expect(PercentText.roundedDown(share) == text)
    }

    @Test func `the year of 10,000 hosts has its own share, and not that of the 292 years that nanoseconds can count`()
    {
        let year = at(0).nanosecondsSince1970..<at(365 * 86_400).nanosecondsSince1970
        let times = Availability([Absence(member: 0, start: at(0), end: at(73 * 86_400))], in: year)
        let all = (0..<10_000).reduce(into: Availability()) { sum, _ in sum.add(times) }
        #expect(all.share == 0.8)
        #expect(all.up.milliseconds == 10_000 * 292 * 86_400_000)
        #expect(TimeWords.describe(all.down) == "730000 d 0 h")
    }

    @Test func `the page of many hosts counts all of their time`() {
        var roster = Roster()
        for number in 0..<100 { roster.apply(listed: "h\(number)", key: "K\(number)") }
        let begin = at(-250 * 365 * 86_400)
        let report = FleetReport(
            roster, FleetHistory(since: begin), EngineFacts(now: at(0)), OperatorNotes(), from: begin
        ) { _, _ in true }
        let page = String(decoding: FleetReportPage(report) { $0.description }.html(nonce: "n"), as: UTF8.self)
        #expect(page.contains("not known") && FleetReportCSV.text(report).contains("all,,100,,0,"))
    }

    @Test func `what each of many absences shares with times without alerts is found`() {
        let absences = (0..<10).map {
            Absence(member: 0, start: at(Double($0) * 100 + 40), end: at(Double($0) * 100 + 60))
        }
        let quiet = (0..<20).map { Self.span(Double($0) * 50, Double($0) * 50 + 5) }
        let times = Availability(absences, in: Self.window, quiet: quiet.reversed())
        #expect(Self.seconds(times) == [800, 150, 0, 50, 0, 15])
    }

    @Test func `a report has all hosts, each label and each host`() {
        let report = ExampleReport.make()
        #expect(report.hosts.map(\.id) == ["till-1", "till-2", "till-3", "till-4"])
        #expect(report.groups.map { "\($0.value) \($0.hosts.count)" } == ["=a,\"b\" 2", "berlin-7 2"])
        #expect(report.hosts[2].availability.presumed == .seconds(1620))
        #expect(report.hosts[2].availability.quiet == .seconds(180))
        #expect(report.hosts[1].availability.unknown == .seconds(1800))
        #expect(report.groups[0].availability.share == 1)
        // Who was switched off, or may have been, is no part of an outage.
        #expect(report.outages?.map { $0.members.map { report.outageHosts[$0] } } == [["till-3", "till-4"]])
        #expect(ExampleReport.make { $0.id == "till-1" }.hosts.count == 1)
    }

    @Test func `no cell of the spreadsheet runs as a formula or ends early, and no text of a host is markup`() throws {
        let csv = FleetReportCSV.text(ExampleReport.make())
        #expect(csv.contains("site,\"'=a,\"\"b\"\"\",2,1.0,"), "\(csv)")
        #expect(csv.split(separator: "\r\n").count == 8)
        let page = String(
            decoding: FleetReportPage(ExampleReport.make()) { $0.description }.html(nonce: "n"), as: UTF8.self)
        #expect(page.contains("=a,&quot;b&quot;"))
        #expect(!page.contains("<script"))
        #expect(page.contains("By site"))
    }
}
