internal import ReachCore

/// The tables of a report: the same rows on a terminal, in a page and in a file of a spreadsheet.
package struct FleetReportTable: Sendable {
    package let title: String
    package let caption: String
    package let heading: [String]
    /// The first cell names what the row is about; the others are figures.
    package let rows: [[String]]

    package static func all(of report: FleetReport) -> [FleetReportTable] {
        let caption = "Availability is the share of the time in which it is known whether the hosts were reachable."
        let byLabel = Dictionary(grouping: report.groups, by: \.label).sorted { $0.key < $1.key }
        return [
            FleetReportTable(
                title: "Availability", caption: caption, heading: ["Hosts"] + figures,
                rows: [["\(report.hosts.count)"] + cells(report.all)])
        ]
            + byLabel.map { label, groups in
                FleetReportTable(
                    title: "By \(label)", caption: "Of the hosts with each value of the label.",
                    heading: [label, "Hosts"] + figures,
                    rows: groups.map { [$0.value, "\($0.hosts.count)"] + cells($0.availability) })
            } + [
                FleetReportTable(
                    title: "By host", caption: "Of each host.", heading: ["Host", "Name"] + figures,
                    rows: report.hosts.map { [$0.id, $0.name ?? ""] + cells($0.availability) })
            ]
    }

    private static let figures = [
        "Available", "Outages", "Down", "Presumed", "Confirmed", "Longest", "Quiet", "Unknown",
    ]

    private static func cells(_ times: Availability) -> [String] {
        [
            times.share.map(PercentText.roundedDown) ?? "not known", "\(times.outages)", words(times.down),
            words(times.presumed), words(times.confirmed), words(times.longest), words(times.quiet),
            words(times.unknown),
        ]
    }

    private static func words(_ duration: Duration) -> String {
        duration > .zero ? TimeWords.describe(duration) : ""
    }
}

/// A report as lines of a spreadsheet: a line for all hosts, for each label and for each host, with seconds.
package enum FleetReportCSV {
    package static func text(_ report: FleetReport) -> String {
        let heading =
            "by,value,hosts,availability,up_s,down_s,presumed_s,confirmed_s,unknown_s,quiet_s,outages,longest_s\r\n"
        return heading + line(["all", ""], report.hosts.count, report.all)
            + report.groups.map { line([$0.label, $0.value], $0.hosts.count, $0.availability) }.joined()
            + report.hosts.map { line(["host", $0.id], 1, $0.availability) }.joined()
    }

    private static func line(_ names: [String], _ hosts: Int, _ times: Availability) -> String {
        let seconds = [times.up, times.down, times.presumed, times.confirmed, times.unknown, times.quiet].map {
            "\($0.components.seconds)"
        }
        let cells =
            names.map(quoted) + ["\(hosts)", times.share.map { "\($0)" } ?? ""] + seconds
            + ["\(times.outages)", "\(times.longest.components.seconds)"]
        return cells.joined(separator: ",") + "\r\n"
    }

    /// A spreadsheet would run what begins as a formula does.
    private static func quoted(_ text: String) -> String {
        var text = DisplayText.sanitized(text)
        if ["=", "+", "-", "@"].contains(where: text.hasUTF8Prefix) { text = "'" + text }
        guard text.utf8.contains(where: { "\",\n\r'".utf8.contains($0) }) else { return text }
        return "\"" + text.split(scalar: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
