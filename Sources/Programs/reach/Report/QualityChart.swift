internal import ReachCore
internal import ReachRecords

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

    var html: String {
        frame.html(
            band + medians + bars,
            label:
                "Round trips and loss of \(series.interface): a band from the 10th to the 90th percentile up to "
                + "\(DurationText.milliseconds(frame.top)), in it the median, and bars of the share of lost packets. "
                + "The table below has the same figures.",
            key: band.isEmpty
                ? [] : [("band", "p10 to p90"), ("m0", "p50"), ("m1", "p50, 4 % lost"), ("m2", "p50, 20 % lost")])
    }

    private var band: String {
        series.parts.split(whereSeparator: { $0.trips == nil }).map { run in
            let upper = run.flatMap { corners($0, $0.trips?.high) }
            let lower = run.reversed().flatMap { corners($0, $0.trips?.low).reversed() }
            return "<path class=\"band\" d=\"M\((upper + lower).joined(separator: "L"))Z\"/>\n"
        }.joined()
    }

    private func corners(_ part: QualitySeries.Part, _ value: Duration?) -> [String] {
        let y = ChartFrame.coordinate(frame.y(value ?? .zero))
        return [part.from, part.to].map { ChartFrame.coordinate(frame.x($0)) + " " + y }
    }

    private var medians: String {
        series.parts.map { part in
            guard let trips = part.trips else { return "" }
            let (start, end) = (ChartFrame.coordinate(frame.x(part.from)), ChartFrame.coordinate(frame.x(part.to)))
            let y = ChartFrame.coordinate(frame.y(trips.median))
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
