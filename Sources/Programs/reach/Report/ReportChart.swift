internal import ReachCore
internal import ReachTerminal

/// Percentiles of a probe's latency as lines of different strokes, and below them its loss as bars.
struct ReportChart {
    private let series: ProbeSeries
    private let report: Report
    private let id: Int
    /// The duration at the top of the chart.
    private let top: Duration

    private static let width = 920
    private static let left = 76
    private static let right = 50
    private static let plotTop = 12
    private static let plotHeight = 150
    private static let lossTop = 186
    private static let lossHeight = 36
    private static let height = 252

    init(_ series: ProbeSeries, _ report: Report, id: Int) {
        self.series = series
        self.report = report
        self.id = id
        let longest = series.parts.compactMap { $0.percentile99 ?? $0.median }.max() ?? .milliseconds(1)
        top = Self.roundedUp(longest)
    }

    /// The next of 1, 2 and 5 times a power of ten.
    private static func roundedUp(_ duration: Duration) -> Duration {
        let microseconds = max(1, duration.microseconds)
        var step: Int64 = 1
        while step <= Int64.max / 10 {
            for factor in [1, 2, 5] where step * Int64(factor) >= microseconds {
                return .microseconds(step * Int64(factor))
            }
            step *= 10
        }
        return duration
    }

    var svg: String {
        var output = SVGText.open(
            width: Self.width, height: Self.height, id: "chart-\(id)", title: "Latency and loss of \(series.name)",
            description:
                "Lines of the 50th, 90th and 99th percentile up to \(ProbeText.milliseconds(top)), and bars of the share "
                + "of failed attempts. The table below has the same figures.")
        output += axes
        for (name, value) in Self.lines { output += line(name, value) }
        output += bars + times
        return output + "</svg>\n"
    }

    /// The names are also those of the strokes.
    private static var lines: [(name: String, value: (ProbeSeries.Part) -> Duration?)] {
        [("p99", \.percentile99), ("p90", \.percentile90), ("p50", \.median)]
    }

    private var plotWidth: Int { Self.width - Self.left - Self.right }

    private func x(_ time: Timestamp) -> Double {
        let length = Double(report.to.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        let place = Double(time.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        return Double(Self.left) + place / max(length, 1) * Double(plotWidth)
    }

    private func middle(_ part: ProbeSeries.Part) -> Double { (x(part.from) + x(part.to)) / 2 }

    private func y(_ duration: Duration) -> Double {
        Double(Self.plotTop + Self.plotHeight) - min(1, duration / top) * Double(Self.plotHeight)
    }

    private var axes: String {
        var output = ""
        for quarter in 0...4 {
            let y = Self.plotTop + Self.plotHeight * quarter / 4
            let end = Self.left + plotWidth
            output += "<path class=\"grid\" d=\"M\(Self.left) \(y)H\(end)\"/>\n"
            let value = top * (4 - quarter) / 4
            output += SVGText.text(ProbeText.milliseconds(value), Self.left - 6, y + 4, anchor: "end")
        }
        let bottom = Self.lossTop + Self.lossHeight
        output += "<path class=\"grid\" d=\"M\(Self.left) \(bottom)H\(Self.left + plotWidth)\"/>\n"
        return output + SVGText.text("lost 100 %", Self.left - 6, Self.lossTop + 10, anchor: "end")
            + SVGText.text("0 %", Self.left - 6, bottom, anchor: "end")
    }

    /// A line with a gap wherever nothing was measured; a point alone is a circle.
    private func line(_ name: String, _ value: (ProbeSeries.Part) -> Duration?) -> String {
        var output = ""
        for run in series.parts.split(whereSeparator: { value($0) == nil }) {
            let points = run.map { (middle($0), y(value($0) ?? .zero)) }
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
        let place = Self.plotTop + 8 + (["p99", "p90", "p50"].firstIndex(of: name) ?? 0) * 18
        let x = Self.width - Self.right + 6
        return "<path class=\"\(name)\" d=\"M\(x) \(place - 4)h16\"/>\n" + SVGText.text(name, x + 20, place)
    }

    private var bars: String {
        series.parts.map { part in
            guard let loss = part.loss, loss > 0 else { return "" }
            let height = max(1.5, loss * Double(Self.lossHeight))
            let (start, end) = (x(part.from), x(part.to))
            let top = Double(Self.lossTop + Self.lossHeight) - height
            let title = "\(report.stamp(part.from)): \(part.failed) of \(part.ok + part.failed) failed"
            return "<rect class=\"lost\" x=\"\(SVGText.coordinate(start))\" y=\"\(SVGText.coordinate(top))\" "
                + "width=\"\(SVGText.coordinate(max(1, end - start - 1)))\" height=\"\(SVGText.coordinate(height))\">"
                + "<title>\(HTMLPage.escaped(title))</title></rect>\n"
        }.joined()
    }

    private var times: String {
        let y = Self.height - 8
        return SVGText.text(report.stamp(report.from), Self.left, y)
            + SVGText.text(report.stamp(report.to), Self.left + plotWidth, y, anchor: "end")
    }
}
