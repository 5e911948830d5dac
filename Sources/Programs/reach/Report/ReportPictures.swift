internal import ReachCore
internal import ReachTerminal

/// The SVG that the pictures of a report share. Coordinates are in units of about a pixel.
enum SVGText {
    static func open(width: Int, height: Int, id: String, title: String, description: String) -> String {
        "<svg viewBox=\"0 0 \(width) \(height)\" role=\"img\" aria-labelledby=\"\(id)-t \(id)-d\">\n"
            + "<title id=\"\(id)-t\">\(HTMLPage.escaped(title))</title>\n"
            + "<desc id=\"\(id)-d\">\(HTMLPage.escaped(description))</desc>\n"
    }

    /// A pattern of stripes for what is unknown, for all pictures of the page: the first one has it.
    static let hatch = """
        <defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <path class="hatch" d="M0 0v6"/></pattern></defs>

        """

    static func rectangle(_ style: String, _ x: Int, _ y: Int, _ width: Int, _ height: Int, title: String? = nil)
        -> String
    {
        let frame = "<rect class=\"\(style)\" x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\""
        guard let title else { return frame + "/>\n" }
        return frame + "><title>\(HTMLPage.escaped(title))</title></rect>\n"
    }

    static func text(_ text: String, _ x: Int, _ y: Int, anchor: String = "start") -> String {
        "<text x=\"\(x)\" y=\"\(y)\" text-anchor=\"\(anchor)\">\(HTMLPage.escaped(text))</text>\n"
    }

    /// A coordinate with one decimal.
    static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}

/// The whole period of a target as one bar: high for up, low for down, so that no colour is needed.
struct ReportStrip {
    private let timeline: HistoryTimeline
    private let report: Report

    private static let width = 920
    private static let cells = 230

    init(_ timeline: HistoryTimeline, _ report: Report) {
        self.timeline = timeline
        self.report = report
    }

    var svg: String {
        let cells = HistoryBar(timeline, width: Self.cells).cells
        let size = Self.width / Self.cells
        var output = SVGText.open(
            width: Self.width, height: 58, id: "strip", title: "Timeline of \(timeline.target)",
            description: "A high bar is up, a low one down, a stripe unknown, an empty one not observed. "
                + "The table of outages has the same times.")
        output += SVGText.hatch
        var start = 0
        for index in cells.indices where index + 1 == cells.count || cells[index + 1] != cells[index] {
            output += bar(cells[index], start * size, (index + 1 - start) * size)
            start = index + 1
        }
        output += SVGText.text(report.stamp(timeline.from), 0, 54)
        output += SVGText.text(report.stamp(timeline.to), Self.width, 54, anchor: "end")
        return output + "</svg>\n"
    }

    private func bar(_ cell: HistoryBar.Cell, _ x: Int, _ width: Int) -> String {
        switch cell {
        case .up: SVGText.rectangle("up", x, 4, width, 32)
        case .partlyDown: SVGText.rectangle("up", x, 4, width, 16) + SVGText.rectangle("down", x, 20, width, 16)
        case .down: SVGText.rectangle("down", x, 26, width, 10)
        case .unknown: SVGText.rectangle("unknown", x, 4, width, 32)
        case .notObserved: SVGText.rectangle("grid", x, 35, width, 1)
        }
    }
}

/// The hours of each day as cells; the part of a cell that is filled from below grows with the time down.
struct ReportHeatMap {
    private let mapped: Report.HourMapOfTarget
    private let id: Int

    private static let left = 92
    private static let cell = 30
    private static let row = 15
    private static let top = 20

    init(_ mapped: Report.HourMapOfTarget, id: Int) {
        self.mapped = mapped
        self.id = id
    }

    var svg: String {
        let days = mapped.map.days
        let height = Self.top + days.count * (Self.row + 1) + 34
        let down = days.flatMap(\.hours).count { $0.down > 0 }
        var output = SVGText.open(
            width: Self.left + 24 * Self.cell + 92, height: height, id: "map-\(id)",
            title: "Hours of \(mapped.target) by day",
            description:
                "\(days.count) days in rows of 24 hours; in \(down) hours it was down for a part or all of the time. "
                + "The table below lists them.")
        for hour in stride(from: 0, to: 24, by: 3) {
            output += SVGText.text("\(hour):00", Self.left + hour * Self.cell, 13)
        }
        for (number, day) in days.enumerated() { output += row(day, Self.top + number * (Self.row + 1)) }
        return output + legend(Self.top + days.count * (Self.row + 1) + 12) + "</svg>\n"
    }

    private func row(_ day: HourMap.Day, _ y: Int) -> String {
        var output = SVGText.text(day.date, 0, y + 12)
        for (hour, figures) in day.hours.enumerated() {
            let title =
                figures.down > 0
                ? "\(day.date) \(hour):00: down for \(DurationText.describe(.seconds(figures.down)))" : nil
            output += cell(figures.level, Self.left + hour * Self.cell, y, title: title)
        }
        let share = day.total.downShare.map { HistoryText.percent(1 - $0) } ?? "–"
        return output + SVGText.text(share, Self.left + 24 * Self.cell + 84, y + 12, anchor: "end")
    }

    private func cell(_ level: HourMap.Hour.Level, _ x: Int, _ y: Int, title: String? = nil) -> String {
        let (width, height) = (Self.cell - 1, Self.row)
        func filled(_ part: Int) -> String {
            SVGText.rectangle("up", x, y, width, height - part)
                + SVGText.rectangle("down", x, y + height - part, width, part, title: title)
        }
        switch level {
        case .none: return ""
        case .notObserved: return SVGText.rectangle("absent", x, y, width, height)
        case .unknown: return SVGText.rectangle("unknown", x, y, width, height)
        case .up: return SVGText.rectangle("up", x, y, width, height)
        case .briefly: return filled(3)
        case .partly: return filled(6)
        case .mostly: return filled(10)
        case .down: return filled(height)
        }
    }

    private func legend(_ y: Int) -> String {
        let items: [(HourMap.Hour.Level, String, Int)] = [
            (.up, "up", 0), (.briefly, "down under a minute", 70), (.partly, "under a quarter", 240),
            (.mostly, "a quarter or more", 380), (.down, "all of it", 540), (.unknown, "unknown", 640),
            (.notObserved, "not observed", 745),
        ]
        return items.map { level, words, x in
            cell(level, x, y) + SVGText.text(words, x + Self.cell + 4, y + 12)
        }.joined()
    }
}
