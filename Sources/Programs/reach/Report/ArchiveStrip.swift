internal import ReachCore
internal import ReachTerminal

/// The parts of an archive as one bar: high for up, low for down, so that no colour is needed.
struct ArchiveStrip {
    private let series: ArchiveSeries
    private let report: Report
    private let id: Int

    private static let width = 920

    init(_ series: ArchiveSeries, _ report: Report, id: Int) {
        (self.series, self.report, self.id) = (series, report, id)
    }

    var svg: String {
        var output = SVGText.open(
            width: Self.width, height: 58, id: "archive-\(id)", title: "Archive of \(series.name)",
            description:
                "A high bar is up, a low one down, both together one after the other, a stripe unknown, an empty one "
                + "not observed. The table below has the same figures.")
        for part in series.parts { output += bar(part) }
        output += SVGText.text(report.stamp(report.from), 0, 54)
        output += SVGText.text(report.stamp(report.to), Self.width, 54, anchor: "end")
        return output + "</svg>\n"
    }

    private func bar(_ part: ArchiveSeries.Part) -> String {
        let (start, end) = (x(part.from), x(part.to))
        let width = max(1, end - start)
        let title = report.stamp(part.from) + ": " + (part.availability.map(HistoryText.percent) ?? part.level.words)
        return switch part.level {
        case .up: SVGText.rectangle("up", start, 4, width, 32, title: title)
        case .briefly, .partly, .mostly:
            SVGText.rectangle("up", start, 4, width, 16, title: title)
                + SVGText.rectangle("down", start, 20, width, 16, title: title)
        case .down: SVGText.rectangle("down", start, 26, width, 10, title: title)
        case .unknown: SVGText.rectangle("unknown", start, 4, width, 32, title: title)
        case .none, .notObserved: SVGText.rectangle("grid", start, 35, width, 1)
        }
    }

    private func x(_ time: Timestamp) -> Int {
        let length = Double(report.to.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        let place = Double(time.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        return Int((place / max(length, 1) * Double(Self.width)).rounded())
    }
}
