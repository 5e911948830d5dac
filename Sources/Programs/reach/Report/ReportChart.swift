internal import ReachCore

/// Percentiles of a probe's latency as lines of different strokes, and below them its loss as bars.
struct ReportChart {
    private let series: ProbeSeries
    private let report: Report
    private let frame: ChartFrame

    init(_ series: ProbeSeries, _ report: Report) {
        self.series = series
        self.report = report
        let longest = series.parts.compactMap { $0.percentile99 ?? $0.median }.max()
        frame = ChartFrame(report, longest: longest ?? .milliseconds(1))
    }

    var html: String {
        let lines: [(name: String, value: (ProbeSeries.Part) -> Duration?)] = [
            ("p99", \.percentile99), ("p90", \.percentile90), ("p50", \.median),
        ]
        return frame.html(
            lines.map { line($0.name, $0.value) }.joined() + bars,
            label:
                "Latency and loss of \(series.name): lines of the 50th, 90th and 99th percentile up to "
                + "\(DurationText.milliseconds(frame.top)), and bars of the share of failed attempts. The table below "
                + "has the same figures.",
            key: lines.reversed().map { ($0.name, $0.name) })
    }

    private func middle(_ part: ProbeSeries.Part) -> Double { (frame.x(part.from) + frame.x(part.to)) / 2 }

    /// A line with a gap wherever nothing was measured; a point alone is a dot, by the round ends of its stroke.
    private func line(_ name: String, _ value: (ProbeSeries.Part) -> Duration?) -> String {
        series.parts.split(whereSeparator: { value($0) == nil }).map { run in
            let points = run.map { part in
                ChartFrame.coordinate(middle(part)) + " " + ChartFrame.coordinate(frame.y(value(part) ?? .zero))
            }
            return
                "<path class=\"\(name)\" d=\"M\(points.joined(separator: "L"))\(points.count == 1 ? "h.1" : "")\"/>\n"
        }.joined()
    }

    private var bars: String {
        series.parts.map { part in
            guard let loss = part.loss, loss > 0 else { return "" }
            let title = "\(report.stamp(part.from)): \(part.failed) of \(part.ok + part.failed) failed"
            return frame.bar(loss, from: part.from, to: part.to, title: title)
        }.joined()
    }
}
