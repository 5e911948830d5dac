import ReachControl
import ReachCore
import ReachRecords
import ReachTerminal
import Testing

@testable import reach

@Suite struct ArchiveSeriesTests {
    private static let noon: Int64 = 1_795_780_800

    private static func time(_ second: Int64) -> Timestamp {
        Timestamp(nanosecondsSince1970: (noon + second) * 1_000_000_000)
    }

    /// A hundred days at all levels as far as they are kept, with a bad first quarter of each day.
    private static func archive(days: Int64 = 100) -> ProbeArchive {
        var rows: [ArchiveRow] = []
        for level in ArchiveLevel.allCases {
            let count = min(Int64(level.capacity), days * 86_400 / level.step)
            for number in 1...count {
                let slot = level.slot(of: noon) - UInt32(number)
                var row = ArchiveRow(level, slot: slot)
                let isBad = Int64(slot) * level.step % 86_400 < 21_600
                (row.ok, row.fail) = isBad ? (0, 60_000) : (60_000, 0)
                (row.answered, row.failed) = isBad ? (0, 10) : (10, 0)
                row.lost = isBad ? 10_000 : 0
                if !isBad { (row.least, row.mean, row.most) = (1000, 5000, 20_000) }
                rows.append(row)
            }
        }
        return ProbeArchive(probe: "shop", target: "https://shop.example/", rows)
    }

    private static func series(from: Int64, to: Int64 = 0) -> ArchiveSeries {
        ArchiveSeries(archive(), from: time(from), to: time(to), now: time(0))
    }

    @Test(arguments: [(3600, 60), (86_400, 3600), (50 * 86_400, 86_400), (90 * 86_400, 86_400)] as [(Int64, Int64)])
    func `each part has the rows of its time, from the level that still has them`(length: Int64, width: Int64) throws {
        let series = Self.series(from: -length)
        #expect(series.parts.count <= ProbeSeries.mostParts + 1)
        let first = try #require(series.parts.first)
        #expect((first.to.nanosecondsSince1970 - first.from.nanosecondsSince1970) / 1_000_000_000 == width)
        for part in series.parts {
            let seconds = Duration.nanoseconds(part.to.nanosecondsSince1970 - part.from.nanosecondsSince1970)
            #expect(part.ok + part.fail == seconds, "\(part)")
        }
        let whole = series.whole
        #expect(whole.ok + whole.fail == .seconds(length))
        #expect(whole.ok == series.parts.reduce(.zero) { $0 + $1.ok })
    }

    @Test func `the figures of a day are those of its rows`() throws {
        let series = Self.series(from: -90 * 86_400)
        let day = series.parts[10]
        #expect(day.availability == 0.75 && day.loss == 0.25 && day.level == .mostly)
        #expect(day.least == .milliseconds(1) && day.mean == .milliseconds(5) && day.most == .milliseconds(20))
        #expect(day.answered == 90 && day.failed == 30)
        // Before the archive nothing was observed.
        let early = Self.series(from: -1000 * 86_400)
        #expect(early.parts.first?.level == .notObserved && early.parts.first?.loss == nil)
        #expect(early.whole.ok + early.whole.fail == .seconds(100 * 86_400))
    }

    @Test func `every form of the report has the archive`() throws {
        var report = ExampleReport.report()
        report.archives = [
            ArchiveSeries(
                Self.archive(), from: Self.time(-90 * 86_400), to: Self.time(0), now: Self.time(0))
        ]
        let text = ReportText(report: report, style: .plain, width: 80, isUnicode: true).text
        #expect(text.contains("Archives of probes\n") && text.contains("shop, each sign 1 d"), "\(text)")
        #expect(text.contains(String(repeating: "▂", count: 40)))
        var json = JSONWriter()
        json.report(report, at: ExampleReport.moment(0))
        let archive = try JSONReader.read(json.bytes)["archives"]?.array?.first
        #expect(archive?["probe"]?.string == "shop" && archive?["parts"]?.array?.count == 90)
        let page = String(decoding: ReportPage(report).html(nonce: "n"), as: UTF8.self)
        #expect(page.contains("aria-label=\"Archive of shop; the table below has the same figures\""))
        #expect(ReportTable(report).text.contains("\r\narchive,shop,"))
    }
}
