internal import ReachCore
internal import ReachTerminal

/// What charts of latency and loss have in common: durations above, shares below, and the report's period from left to right.
struct ChartFrame {
    /// The duration at the top.
    let top: Duration
    private let report: Report

    static let width = 920
    static let height = 252
    static let right = 50
    static let plotTop = 12
    private static let left = 76
    private static let plotHeight = 150
    private static let lossTop = 186
    private static let lossHeight = 36

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

    private var plotWidth: Int { Self.width - Self.left - Self.right }

    func x(_ time: Timestamp) -> Double {
        let length = Double(report.to.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        let place = Double(time.nanosecondsSince1970 - report.from.nanosecondsSince1970)
        return Double(Self.left) + place / max(length, 1) * Double(plotWidth)
    }

    func y(_ duration: Duration) -> Double {
        Double(Self.plotTop + Self.plotHeight) - min(1, duration / top) * Double(Self.plotHeight)
    }

    var axes: String {
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

    /// The bar of a share that was lost.
    func bar(_ loss: Double, from: Timestamp, to: Timestamp, title: String) -> String {
        let height = max(1.5, loss * Double(Self.lossHeight))
        let (start, end) = (x(from), x(to))
        let top = Double(Self.lossTop + Self.lossHeight) - height
        return "<rect class=\"lost\" x=\"\(SVGText.coordinate(start))\" y=\"\(SVGText.coordinate(top))\" "
            + "width=\"\(SVGText.coordinate(max(1, end - start - 1)))\" height=\"\(SVGText.coordinate(height))\">"
            + "<title>\(HTMLPage.escaped(title))</title></rect>\n"
    }

    var times: String {
        let y = Self.height - 8
        return SVGText.text(report.stamp(report.from), Self.left, y)
            + SVGText.text(report.stamp(report.to), Self.left + plotWidth, y, anchor: "end")
    }
}
