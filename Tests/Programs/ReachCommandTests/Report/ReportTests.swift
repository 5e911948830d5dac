import ReachControl
import ReachCore
import ReachQueue
import ReachRecords
import ReachTerminal
import ReachTesting
import Testing

@testable import reach

/// The figures of a report, and its forms for spreadsheets, programs and terminals.
@Suite struct ReportTests {
    private typealias Example = ExampleReport

    @Test func `an outage has its beginning, length, layer and evidence, and the requests that waited`() throws {
        let outages = Example.report().outages
        #expect(outages.map(\.from) == [Example.time(3 * 3600), Example.time(Example.day + 4 * 3600)])
        #expect(outages.map(\.duration) == [.seconds(600), .seconds(7200)])
        #expect(outages.map(\.cause.layer) == [.link, .internet])
        #expect(outages.map(\.evidence) == ["no-route no-carrier eth0", "limited"])
        #expect(
            outages.map(\.sentence) == [
                "eth0 has no carrier", "nothing answers behind this machine's own network; eth0 (wired) was up",
            ])
        #expect(outages.map(\.waiting) == [0, 1])
        #expect(!outages.contains { $0.isOpen || $0.beganBefore })
    }

    @Test func `a period cuts the figures, and an outage keeps its true beginning`() throws {
        let (from, to) = (Example.time(Example.day + 5 * 3600), Example.time(Example.day + 5 * 3600 + 1800))
        let report = Example.report(since: from, until: to)
        let outage = try #require(report.outages.first)
        #expect(report.outages.count == 1 && outage.beganBefore && outage.isOpen)
        #expect(outage.from == Example.time(Example.day + 4 * 3600))
        #expect(outage.duration == .seconds(1800))
        #expect(report.leading?.summary.uptime == 0)
        let later = Example.report(since: Example.time(Example.day + 6 * 3600))
        #expect(later.outages.isEmpty && later.leading?.summary.uptime == 1)
    }

    @Test func `the end of a period is never after the present, and a period without records has no figures`() {
        let report = Example.report(since: Example.time(-9000), until: Example.time(-8000))
        #expect(report.leading?.summary.uptime == nil && report.outages.isEmpty)
        #expect(Example.report(until: Example.time(99 * Example.day)).to == Example.time(3 * Example.day))
    }

    @Test func `hours are those of local clocks, on the day that has 25 of them too`() throws {
        let map = try #require(Example.report().mapped.first).map
        #expect(map.days.map(\.date) == ["2026-10-24", "2026-10-25", "2026-10-26"])
        #expect(map.days[0].hours[3].down == 600 && map.days[0].hours[3].up == 3000)
        // Clocks show 2:00 to 3:00 twice.
        #expect(map.days[1].hours[2].up == 7200)
        #expect(map.days[1].hours[3].down == 3600 && map.days[1].hours[4].down == 3600)
        #expect(
            map.days.map { $0.hours.map { $0.up + $0.down + $0.unknown + $0.notObserved }.reduce(0, +) }
                == [86_400, 90_000, 82_800])
        #expect(map.days[0].hours.map(\.level).suffix(21).first == .partly)
        #expect(map.days[1].hours[3].level == .down)
        #expect(map.days[2].hours[23].level == .none)
    }

    @Test func `a history of decades gives a map of a year, and says what is left out`() throws {
        let log = HistoryLog(entries: [
            HistoryEntry(Example.state(.reachable), at: Example.moment(-9000 * Example.day), boot: "boot")
        ])
        let map = try #require(Example.report(log).mapped.first).map
        #expect(map.days.count == HourMap.mostDays && map.earlierDays == 9003 - HourMap.mostDays)
    }

    @Test func `latency and loss are those of the attempts in each part of the period`() throws {
        let series = try #require(Example.report().probes.value?.first)
        #expect(series.whole.ok == 3 * 1440 - 120 && series.whole.failed == 120 && series.parts.count == 72)
        #expect(series.whole.median == .milliseconds(20) && series.whole.percentile99 == .milliseconds(30))
        #expect(series.parts[28].loss == 1 && series.parts[28].median == nil && series.parts[27].loss == 0)
        #expect(series.parts.map(\.ok).reduce(0, +) == series.whole.ok)
    }

    @Test(arguments: [1, 60, 3599, 86_400, 30 * 86_400, 400 * 86_400, 40_000 * 86_400])
    func `a period of any length has few parts without a gap`(seconds: Int) {
        let (from, to) = (Example.time(0), Example.time(seconds))
        let parts = ProbeSeries("p", target: "", [], from: from, to: to).parts
        #expect(parts.first?.from == from && parts.last?.to == to && parts.count <= ProbeSeries.mostParts)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.to == $1.from })
    }

    @Test func `the queue's figures count what happened to requests in the period`() throws {
        let tally = try #require(Example.report().queue.value)
        #expect(tally.queued == 3 && tally.done == 2 && tally.dead == 1 && tally.deaths == ["expired": 1])
        #expect(tally.medianWait == .seconds(60) && tally.longestWait == .seconds(3660) && tally.left == 0)
        let early = try #require(Example.report(until: Example.time(Example.day + 6 * 3600)).queue.value)
        #expect(early.queued == 2 && early.done == 1 && early.left == 1)
    }

    @Test func `a dead request that is sent again is not added twice`() {
        let events = [
            QueueTally.Event(.queued, 1, at: Example.time(0)),
            QueueTally.Event(.dead, 1, reason: "attempts", at: Example.time(60)),
            QueueTally.Event(.queued, 1, reason: "retry", at: Example.time(120)),
            QueueTally.Event(.done, 1, at: Example.time(180)),
        ]
        let tally = QueueTally(events, from: Example.time(-60), to: Example.time(600))
        #expect((tally.queued, tally.dead, tally.done, tally.left) == (1, 1, 1, 0))
    }

    @Test func `a target that is named twice is reported once`() {
        let report = Report(
            of: Example.log(), .absent(""), wanted: ["internet", "internet"], since: nil, until: nil,
            now: Example.moment(3 * Example.day), boot: "boot", isRunning: false, host: "h", zone: Example.zone)
        #expect(report.targets.count == 1 && report.mapped.count == 1)
        #expect(report.outages.count == Set(report.outages.map(\.from)).count)
    }

    @Test func `what is not recorded is named with the reason`() throws {
        let report = Example.report(Example.log(), .absent("the journal is off"))
        #expect(report.outages.map(\.waiting) == [nil, nil])
        let text = ReportText(report: report, style: .plain, width: nil, isUnicode: false).text
        #expect(text.contains("Probes\nnot recorded: the journal is off\n"))
        #expect(text.contains("wwan0  wwan   9.0 MiB   3.0 KiB"))
        #expect(ExampleReport.html(report).contains("<p>Not recorded: the journal is off.</p>"))
        #expect(ReportTable(report).text.contains("not-recorded"))
        let empty = Example.report(
            Example.log(), .recorded(JournalFigures(HistoryClock([], now: Example.moment(0), boot: ""))))
        #expect(empty.probes.value == nil && empty.queue.value == nil)
    }

    // MARK: - Forms

    @Test func `the text has the figures in tables, and the map needs no colours`() {
        let text = ReportText(report: Example.report(), style: .plain, width: nil, isUnicode: false).text
        for line in [
            "Outage report of lodge",
            "from 2026-10-24 00:00:00 to 2026-10-26 23:00:00, local time: CEST (UTC+02:00), CET (UTC+01:00)",
            "TARGET    AVAILABLE  OUTAGES  DOWN        LONGEST    NOT OBSERVED",
            "internet  96.90 %    2        2 h 10 min  2 h 0 min  2 h 0 min",
            "2026-10-24 03:00:00  10 min 0 s  internet  link      0        no-route no-carrier eth0  eth0 has no carrier",
            "2026-10-24  ###=####################  99.30 %", "2026-10-25  ###__##################.  91.66 %",
            "2026-10-26  .######################   100 %",
            "shop   4320      2.78 %  20.0 ms  28.0 ms  30.0 ms  https://shop.example/",
            "given up: 1 (1 expired)",
        ] {
            #expect(text.contains(line), "\(line)\n\(text)")
        }
    }

    @Test(arguments: [40, 80, 200]) func `no line of the text without a name from outside is wider than the terminal`(
        width: Int
    ) {
        let report = Example.report()
        for unicode in [true, false] {
            let text = ReportText(report: report, style: .plain, width: width, isUnicode: unicode).text
            let lines = text.split(separator: "\n").filter { !$0.contains("://") }
            #expect(lines.filter { $0.count > width } == [], "\(width)")
        }
    }

    @Test func `the table has a row for each figure, and the same cells in each`() {
        let text = ReportTable(Example.report()).text
        let lines = text.split(separator: "\r\n").map { $0.split(separator: ",", omittingEmptySubsequences: false) }
        #expect(lines.allSatisfy { $0.count == lines[0].count }, "\(lines.filter { $0.count != lines[0].count })")
        #expect(
            Set(lines.map { $0[0] })
                == ["kind", "connection", "availability", "outage", "hour", "probe", "queue", "metered"])
        #expect(text.contains("outage,internet,2026-10-24T03:00:00+02:00,2026-10-24T03:10:00+02:00,600.0,"))
        #expect(text.contains("link,no-route no-carrier eth0,eth0 has no carrier,no,0"))
    }

    @Test(arguments: [
        ("=HYPERLINK(\"http://h\")", "'=HYPERLINK"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(1)", "'@SUM"),
        (" =1", "' =1"),
        ("\t=1", "\\u{9}=1"), ("'=1", "''=1"), ("plain", "plain"), ("a=b", "a=b"),
    ]) func `no text from outside is a formula in a spreadsheet`(name: String, cell: String) {
        #expect(ReportTable.safe(name).hasPrefix(cell), "\(ReportTable.safe(name))")
        var report = Example.report(Example.log([(Example.state(.reachable, target: name), 5)]))
        report.notes = [name]
        let cells = ReportTable(report).text.split(whereSeparator: { ",\r\n\"".contains($0) })
        #expect(!cells.contains { "=+-@".contains($0.first ?? " ") }, "\(cells)")
    }

    @Test func `no cell ends early, and none is a formula, where a combining mark follows`() {
        #expect(
            ReportTable.safe("=\u{301}1+1").utf8.first == UInt8(ascii: "'")
                && ReportTable.safe("\u{ff1d}1").utf8.first == UInt8(ascii: "'"))
        let line = ReportTable.line(["a\"\u{301},=1+1", "b"])
        #expect(Array(line.utf8) == Array("\"a\"\"\u{301},=1+1\",b\r\n".utf8))
    }

    @Test func `the JSON has every figure, and the manual has its keys`() throws {
        var json = JSONWriter()
        json.report(Example.report(), at: Example.moment(3 * Example.day))
        let value = try JSONReader.read(json.bytes)
        #expect(value["outages"]?.array?.count == 2 && value["hours"]?.array?.first?["days"]?.array?.count == 3)
        #expect(value["outages"]?.array?.first?["evidence"]?.string == "no-route")
        #expect(value["queue"]?["longest_wait_ms"]?.integer == 3_660_000)
        #expect(value["metered"]?.array?.first?["received_bytes"]?.integer == 9 << 20)
        #expect(value["not_recorded"]?.object?.isEmpty == true)
        let keys = JSONKeys.all(in: String(decoding: json.bytes, as: UTF8.self))
        #expect(keys.subtracting(ManualPage("reach-events.7").arguments(of: "Va")) == [])
    }

    @Test func `names from outside cannot write a terminal's screen or an element of the page`() {
        let attack = "<script>alert(1)</script>\" onload=\"x\u{1b}[2J\u{202e}&amp;"
        var log = Example.log([(Example.state(.reachable, target: attack), 5)])
        log.entries.append(
            HistoryEntry(
                .state(
                    HistoryEntry.State(
                        target: attack, status: .reachable, linkClass: attack, interface: attack, reason: attack,
                        rootCause: attack, rootInterface: attack, connectivity: "limited")),
                at: Example.moment(2 * Example.day + 8000), boot: "boot"))
        log.entries.append(
            HistoryEntry(
                .state(
                    HistoryEntry.State(
                        target: attack, status: .notReachable, reason: attack, rootCause: "no-carrier",
                        rootInterface: attack)),
                at: Example.moment(2 * Example.day + 9000), boot: "boot"))
        let journal = Report.Record.recorded(Example.journal(probe: attack, url: attack))
        let report = Example.report(log, journal, wanted: ["internet", attack], host: attack)
        let text = ReportText(report: report, style: .plain, width: 80, isUnicode: true).text
        #expect(!text.contains("\u{1b}") && !text.contains("\u{202e}"))
        let html = ExampleReport.html(report)
        #expect(!html.contains("<script") && !html.contains("onload=\"") && !html.contains("\u{202e}"))
        #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x\\u{1b}[2J\\u{202e}&amp;amp;"))
        #expect(!ReportTable(report).text.contains("\u{1b}"))
    }

    @Test func `a night of a line has its three bad hours in every form`() throws {
        let (from, to) = (Example.time(18 * 3600), Example.time(30 * 3600))
        let report = Example.report(Example.log(Example.night), since: from, until: to)
        let line = try #require(report.lines.first)
        #expect(report.lines.count == 1 && line.interface == "eth0" && line.parts.count == 144)
        #expect(line.whole.packets == 144 * 60 && line.whole.lost == lostAtNight)
        let bad = line.parts.filter { ($0.loss ?? 0) > 0 }
        #expect(bad.count == 36 && bad.first?.from == Example.time(18 * 3600 + 59 * 300))
        #expect(bad.last?.to == Example.time(18 * 3600 + 95 * 300))
        let page = Example.html(report)
        #expect(page.contains("<h2 id=\"lines\">") && page.contains("class=\"band\"") && page.contains("class=\"m2\""))
        let csv = ReportTable(report).text
        #expect(csv.split(whereSeparator: \.isNewline).count { $0.hasPrefix("line,eth0,") } == 144)
        var json = JSONWriter()
        json.report(report, at: Example.moment(3 * Example.day))
        let parts = try JSONReader.read(json.bytes)["lines"]?.array?.first?["parts"]?.array
        #expect(parts?.count == 144 && parts?[70]["lost"]?.integer == 14 + 71 % 9)
        let text = ReportText(report: report, style: .plain, width: 80, isUnicode: true).text
        #expect(text.contains("Lines\n") && text.contains("eth0"))
    }

    private var lostAtNight: Int { (60..<96).reduce(0) { $0 + 14 + $1 % 9 } }

    @Test func `a report of lines that nobody measured says nothing of them`() {
        let report = Example.report()
        #expect(report.lines.isEmpty && !Example.html(report).contains("id=\"lines\""))
        #expect(!ReportText(report: report, style: .plain, width: 80, isUnicode: true).text.contains("Lines"))
    }

    @Test func `long periods are joined into few parts, and a busy line has packets without round trips`() throws {
        let busy = (1...8640).map { number -> (HistoryEntry.Content, Int) in
            let period = QualityPeriod(interface: "eth0", length: .seconds(300), packets: 100, lost: 1, trips: nil)
            return (.quality(period), number * 30)
        }
        let line = try #require(Example.report(Example.log(busy)).lines.first)
        #expect(line.parts.count == 230 && line.whole.packets == 864_000 && line.whole.trips == nil)
        #expect(!QualityChart(line, Example.report(Example.log(busy))).html.contains("class=\"band\""))
    }
}
