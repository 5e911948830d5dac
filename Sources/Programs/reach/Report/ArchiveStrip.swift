internal import ReachCore
internal import ReachPage

/// The parts of an archive as one strip.
struct ArchiveStrip {
    private let series: ArchiveSeries
    private let report: Report

    init(_ series: ArchiveSeries, _ report: Report) { (self.series, self.report) = (series, report) }

    var html: String {
        let bad = series.parts.enumerated().filter { $0.element.fail > .zero }
        let titles = bad.map { number, part in
            (
                number,
                report.stamp(part.from) + ": " + (part.availability.map(PercentText.roundedDown) ?? part.level.words)
            )
        }
        let strip = TimeStrip(
            series.parts.map(\.level), label: "Archive of \(series.name); the table below has the same figures",
            titles: Dictionary(uniqueKeysWithValues: titles), hasGaps: false)
        return "<div class=\"timeline\">\(strip.svg)</div>\n"
            + "<p class=\"ends\"><span>\(report.stamp(report.from))</span><span>\(report.stamp(report.to))</span></p>\n"
    }
}
