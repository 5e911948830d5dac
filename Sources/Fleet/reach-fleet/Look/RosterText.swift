internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

/// Hosts as lines for people.
///
/// The widths of the columns are found first and the lines then written one by one: a table of 100,000 hosts is never
/// in memory.
struct RosterText {
    private static let headings = ["HOST", "NAME", "STATE", "SINCE", "CLASS", "SEEN", "BEHIND", "VERSION", "WHY"]

    let style: TerminalStyle
    let now: Timestamp
    /// Whether there is a column of versions. One that all hosts share says nothing in it.
    var showsVersions = true
    /// Why alerts about a host are quiet.
    var quiet: (RosterHost, HostPresence) -> String? = { _, _ in nil }

    /// Writes a line for each host, in the order of their identities.
    func write(_ rows: [(host: RosterHost, presence: HostPresence)], _ output: (String) -> Void) {
        var widths = Self.headings.map(\.count)
        var isUsed = [Bool](repeating: false, count: Self.headings.count)
        for row in rows {
            for (index, cell) in cells(row.host, row.presence).enumerated() where !cell.isEmpty {
                widths[index] = max(widths[index], Self.columns(cell))
                isUsed[index] = true
            }
        }
        guard !rows.isEmpty else { return }
        var page = line(Self.headings, widths, isUsed, nil)
        for row in rows {
            page += line(cells(row.host, row.presence), widths, isUsed, row.presence.word)
            if page.utf8.count > 32 << 10 {
                output(page)
                page = ""
            }
        }
        output(page)
    }

    private func cells(_ host: RosterHost, _ presence: HostPresence) -> [String] {
        [
            host.id, host.report?.name ?? "", presence.shown, age(presence.since),
            host.report?.internet?.linkClass?.rawValue ?? "", presence.word == .here ? "" : age(presence.lastSeen),
            host.report.flatMap { $0.behind > 0 ? String($0.behind) : nil } ?? "",
            showsVersions ? host.report?.version ?? "" : "", why(host, presence),
        ]
    }

    /// Characters, which of ASCII are bytes.
    private static func columns(_ text: String) -> Int {
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.count
    }

    private func why(_ host: RosterHost, _ presence: HostPresence) -> String {
        var parts = [presence.why].compactMap(\.self)
        if presence.isPresumed { parts.append("presumed") }
        if let own = presence.hostSince { parts.append("its clock: \(TimeText.describe(own))") }
        if let holds = host.report?.queueHolds, !holds.isEmpty {
            parts.append("queue held: \(holds.joined(separator: ", "))")
        }
        if let reason = quiet(host, presence) { parts.append("quiet: \(reason)") }
        if let retired = host.retired { parts.append("retired \(age(retired)) ago") }
        return parts.joined(separator: "; ")
    }

    private func age(_ time: Timestamp?) -> String {
        guard let time else { return "" }
        return DurationText.describe(max(.zero, time.duration(to: now)))
    }

    private func line(_ cells: [String], _ widths: [Int], _ isUsed: [Bool], _ word: HostWord?) -> String {
        var line = ""
        var missing = 0
        for (index, cell) in cells.enumerated() where isUsed[index] {
            guard !cell.isEmpty else {
                missing += widths[index] + 2
                continue
            }
            line += String(repeating: " ", count: missing)
            line += index == 2 ? word.map { style.paint(cell, $0.colour) } ?? cell : cell
            missing = widths[index] - Self.columns(cell) + 2
        }
        return line + "\n"
    }
}

extension HostWord {
    var colour: TerminalStyle.Colour {
        switch self {
        case .here: .green
        case .limited: .yellow
        case .silent: .red
        case .left, .unseen: .grey
        }
    }
}

/// Times for people, in UTC, since hosts and readers may be anywhere.
enum TimeText {
    /// `2026-11-22 12:03:04Z`.
    static func describe(_ time: Timestamp) -> String {
        let text = time.description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))Z"
    }

    /// `2026-11-22 12:03:04.123Z`.
    static func describeExactly(_ time: Timestamp) -> String {
        let text = time.description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(12))Z"
    }
}
