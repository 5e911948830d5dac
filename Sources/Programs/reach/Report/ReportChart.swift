internal import ReachCore
internal import ReachTerminal

/// Percentiles of a probe's latency as lines of different strokes, and below them its loss as bars.
struct ReportChart {
    private let series: ProbeSeries
    private let report: Report
    private let id: Int
    private let frame: ChartFrame

    init(_ series: ProbeSeries, _ report: Report, id: Int) {
        self.series = series
        self.report = report
        self.id = id
        let longest = series.parts.compactMap { $0.percentile99 ?? $0.median }.max()
        frame = ChartFrame(report, longest: longest ?? .milliseconds(1))
    }

    var svg: String {
        var output = SVGText.open(
            width: ChartFrame.width, height: ChartFrame.height, id: "chart-\(id)",
            title: "Latency and loss of \(series.name)",
            description:
                "Lines of the 50th, 90th and 99th percentile up to \(ProbeText.milliseconds(frame.top)), and bars of the "
                + "share of failed attempts. The table below has the same figures.")
        output += frame.axes
        for (name, value) in Self.lines { output += line(name, value) }
        return output + bars + frame.times + "</svg>\n"
    }

    /// The names are also those of the strokes.
    private static var lines: [(name: String, value: (ProbeSeries.Part) -> Duration?)] {
        [("p99", \.percentile99), ("p90", \.percentile90), ("p50", \.median)]
    }

    private func middle(_ part: ProbeSeries.Part) -> Double { (frame.x(part.from) + frame.x(part.to)) / 2 }

    /// A line with a gap wherever nothing was measured; a point alone is a circle.
    private func line(_ name: String, _ value: (ProbeSeries.Part) -> Duration?) -> String {
        var output = ""
        for run in series.parts.split(whereSeparator: { value($0) == nil }) {
            let points = run.map { (middle($0), frame.y(value($0) ?? .zero)) }
            let texts = points.map { SVGText.coordinate($0.0) + " " + SVGText.coordinate($0.1) }
            if points.count == 1 {
                let (x, y) = (SVGText.coordinate(points[0].0), SVGText.coordinate(points[0].1))
                output += "<circle class=\"\(name)\" cx=\"\(x)\" cy=\"\(y)\" r=\"2.5\"/>\n"
            } else {
                output += "<path class=\"\(name)\" d=\"M\(texts.joined(separator: "L"))\"/>\n"
            }
        }
        return output + label(name)
    }

    /// The name of a line with its stroke, at a fixed place: at the ends of the lines they would overlap.
    private func label(_ name: String) -> String {
        let place = ChartFrame.plotTop + 8 + (["p99", "p90", "p50"].firstIndex(of: name) ?? 0) * 18
        let x = ChartFrame.width - ChartFrame.right + 6
        return "<path class=\"\(name)\" d=\"M\(x) \(place - 4)h16\"/>\n" + SVGText.text(name, x + 20, place)
    }

    private var bars: String {
        series.parts.map { part in
            guard let loss = part.loss, loss > 0 else { return "" }
            let title = "\(report.stamp(part.from)): \(part.failed) of \(part.ok + part.failed) failed"
            return frame.bar(loss, from: part.from, to: part.to, title: title)
        }.joined()
    }
}
