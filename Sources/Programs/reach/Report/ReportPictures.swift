internal import ReachCore
internal import ReachPage
internal import ReachRecords

/// The whole period of a target as one strip.
struct ReportStrip {
    private let timeline: HistoryTimeline
    private let report: Report

    private static let cells = 230

    init(_ timeline: HistoryTimeline, _ report: Report) {
        self.timeline = timeline
        self.report = report
    }

    var html: String {
        let (first, last) = (timeline.from.nanosecondsSince1970, timeline.to.nanosecondsSince1970)
        let edges = (0...Int64(Self.cells)).map {
            first + Int64(Int128(last - first) * Int128($0) / Int128(Self.cells))
        }
        let cells = timeline.shares(between: edges).map(\.level)
        let strip = TimeStrip(
            cells, label: "Timeline of \(timeline.target); the table of outages has the same times", hasGaps: false)
        return "<div class=\"timeline\">\(strip.svg)</div>\n"
            + "<p class=\"ends\"><span>\(report.stamp(timeline.from))</span>"
            + "<span>\(report.stamp(timeline.to))</span></p>\n"
            + TimeStrip.legend()
    }
}

/// The hours of each day, a row for a day.
struct ReportHourMap {
    private let mapped: Report.HourMapOfTarget

    init(_ mapped: Report.HourMapOfTarget) { self.mapped = mapped }

    var html: String {
        let hours = [0, 6, 12, 18].map { "<span>\($0):00</span>" }.joined()
        return
            "<div class=\"day\" aria-hidden=\"true\"><span></span><span class=\"clock\">\(hours)</span><span></span>"
            + "</div>\n"
            + "<ul class=\"map\">\n" + mapped.map.days.map(row).joined() + "</ul>\n"
    }

    private func row(_ day: HourMap.Day) -> String {
        let down = day.hours.enumerated().filter { $0.element.down > 0 }
        let words = down.map { "down for \(Self.length($0.element)) in the hour from \($0.offset):00" }
        let titles = down.map { ($0.offset, "\(day.date) \($0.offset):00: down for \(Self.length($0.element))") }
        let known = day.total.downShare == nil ? "not known" : "up"
        let strip = TimeStrip(
            day.hours.map(\.level), label: words.isEmpty ? known : words.joined(separator: ", "),
            titles: Dictionary(uniqueKeysWithValues: titles))
        let share = day.total.downShare.map { PercentText.roundedDown(1 - $0) } ?? "–"
        return "<li class=\"day\"><span>\(day.date)</span>\(strip.svg)<span class=\"n\">\(share)</span></li>\n"
    }

    private static func length(_ hour: TimeShare) -> String { DurationText.describe(.seconds(hour.down)) }
}
