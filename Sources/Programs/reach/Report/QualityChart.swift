internal import ReachCore
internal import ReachTerminal

/// A line's round trips as a band, whose median has the colour of what was lost, as smokeping draws them.
struct QualityChart {
    private let series: QualitySeries
    private let report: Report
    private let frame: ChartFrame

    init(_ series: QualitySeries, _ report: Report) {
        self.series = series
        self.report = report
        // One answer in ten may be so late that the others would be a line at the bottom: what is above is cut off.
        let highs = series.parts.compactMap { $0.trips?.high }.sorted()
        frame = ChartFrame(report, longest: highs.isEmpty ? .milliseconds(1) : highs[highs.count * 9 / 10])
    }

    /// - Parameter id: The number of the picture among its kind.
    func svg(id: Int) -> String {
        SVGText.open(
            width: ChartFrame.width, height: ChartFrame.height, id: "line-\(id)",
            title: "Round trips and loss of \(series.interface)",
            description:
                "A band from the 10th to the 90th percentile up to \(ProbeText.milliseconds(frame.top)), in it the median, and "
                + "bars of the share of lost packets. The table below has the same figures.")
            + frame.axes + band + medians + bars + frame.times + "</svg>\n"
    }

    private var band: String {
        series.parts.split(whereSeparator: { $0.trips == nil }).map { run in
            let upper = run.flatMap { corners($0, $0.trips?.high) }
            let lower = run.reversed().flatMap { corners($0, $0.trips?.low).reversed() }
            return "<path class=\"band\" d=\"M\((upper + lower).joined(separator: "L"))Z\"/>\n"
        }.joined()
    }

    private func corners(_ part: QualitySeries.Part, _ value: Duration?) -> [String] {
        let y = SVGText.coordinate(frame.y(value ?? .zero))
        return [part.from, part.to].map { SVGText.coordinate(frame.x($0)) + " " + y }
    }

    private var medians: String {
        series.parts.map { part in
            guard let trips = part.trips else { return "" }
            let (start, end) = (SVGText.coordinate(frame.x(part.from)), SVGText.coordinate(frame.x(part.to)))
            let y = SVGText.coordinate(frame.y(trips.median))
            return "<path class=\"\(Self.style(part.loss ?? 0))\" d=\"M\(start) \(y)H\(end)\"/>\n"
        }.joined()
    }

    /// The loss from which a line is named lossy, and a fifth.
    private static func style(_ loss: Double) -> String { loss >= 0.2 ? "m2" : loss >= 0.04 ? "m1" : "m0" }

    private var bars: String {
        series.parts.map { part in
            guard let loss = part.loss, loss > 0 else { return "" }
            return frame.bar(
                loss, from: part.from, to: part.to,
                title: "\(report.stamp(part.from)): \(part.lost) of \(part.packets) packets lost")
        }.joined()
    }
}
