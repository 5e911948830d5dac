internal import ReachCore
internal import ReachPage

/// What charts of latency and loss have in common: durations above, shares below, and the report's period from left to
/// right.
///
/// The picture has no text, since it stretches to the width of the page; labels and the key stand around it.
struct ChartFrame {
    /// The duration at the top.
    let top: Duration
    private let report: Report

    /// A line of the chart in its key: its style and its name.
    typealias Line = (style: String, name: String)

    private static let width = 1000
    private static let plotHeight = 150
    private static let lossTop = 174
    private static let height = 210

    init(_ report: Report, longest: Duration) {
        self.report = report
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

    func x(_ time: Timestamp) -> Double {
        let length = Double(report.to.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        let place = Double(time.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        return place / max(length, 1) * Double(Self.width)
    }

    func y(_ duration: Duration) -> Double { Double(Self.plotHeight) * (1 - min(1, duration / top)) }

    /// The bar of a share that was lost.
    func bar(_ loss: Double, from: Timestamp, to: Timestamp, title: String) -> String {
        let whole = Double(Self.height - Self.lossTop)
        let height = max(1.5, loss * whole)
        let (start, end) = (x(from), x(to))
        return
            "<rect class=\"lost\" x=\"\(Self.coordinate(start))\" "
            + "y=\"\(Self.coordinate(Double(Self.height) - height))\" "
            + "width=\"\(Self.coordinate(max(1, end - start - 1)))\" height=\"\(Self.coordinate(height))\">"
            + "<title>\(HTMLPage.escaped(title))</title></rect>\n"
    }

    /// The chart with its labels.
    ///
    /// - Parameters:
    ///   - label: What the picture shows.
    ///   - content: What is drawn, without the grid.
    func html(_ content: String, label: String, key: [Line]) -> String {
        let grid = (0...4).map { "M0 \(Self.plotHeight * $0 / 4)H\(Self.width)" } + ["M0 \(Self.height)H\(Self.width)"]
        let durations = (0...4).map { "<span>\(DurationText.milliseconds(top * (4 - $0) / 4))</span>" }
        let keys = key.map { line in
            "<span><svg class=\"swatch\" viewBox=\"0 0 24 6\" aria-hidden=\"true\">"
                + "<path class=\"\(line.style)\" d=\"M0 3h24\"/></svg>"
                + "\(line.name)</span>"
        }
        return
            "<div class=\"chart\"><div class=\"axis\">\(durations.joined())<span>lost 100 %</span><span>0 %</span>"
            + "</div>\n"
            + "<svg viewBox=\"0 0 \(Self.width) \(Self.height)\" preserveAspectRatio=\"none\" role=\"img\" "
            + "aria-label=\"\(HTMLPage.escaped(label))\">\n"
            + "<path class=\"grid\" d=\"\(grid.joined())\"/>\n" + content + "</svg></div>\n"
            + "<p class=\"ends inset\"><span>\(report.stamp(report.from))</span>"
            + "<span>\(report.stamp(report.to))</span></p>\n"
            + "<p class=\"key\">\(keys.joined())<span><i></i>lost</span></p>\n"
    }

    /// A coordinate with one decimal.
    static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
