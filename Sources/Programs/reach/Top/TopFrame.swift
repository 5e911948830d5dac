internal import ReachControl
internal import ReachCore
internal import ReachQueue
internal import ReachTerminal

/// Draws the screen of `reach top`: a state in, lines out.
struct TopFrame {
    let style: TerminalStyle
    /// Whether the terminal shows UTF-8.
    let isUnicode: Bool
    let width: Int
    let height: Int
    /// When the gateway of a path answered the kernel for the last time (``StatusText``).
    var lastAnswer: (NetworkPath) -> Timestamp? = { _ in nil }
    /// Formats a time in the local time zone.
    let stamp: (Timestamp) -> String

    private static let gap = 2

    /// - Returns: At most `height` lines of at most `width` columns.
    func lines(_ state: TopState) -> [String] {
        var lines = head(state)
        let room = max(0, height - lines.count - 1)
        if let explanation = state.explanation {
            lines += explanation.flatMap(wrapped).prefix(room)
        } else {
            switch state.page {
            case .all: lines += all(state, room: room)
            case .queue: lines += queue(state, room: room)
            case .probes: lines += probes(state, from: state.firstProbe, room: room)
            }
        }
        return lines.prefix(max(0, height - 1)) + [foot(state)]
    }

    /// The requests that a page shows.
    func rows(_ state: TopState) -> Int {
        let room = max(0, height - head(state).count - 1)
        return max(1, (state.page == .all ? shares(state, room: room).queue : room) - 2)
    }

    // MARK: - Parts

    private func head(_ state: TopState) -> [String] {
        if let away = state.away {
            return [painted("\(DisplayText.sanitized(away)); reconnecting", .yellow)]
        }
        guard let internet = state.internet else { return [painted("asking reachd", .grey)] }
        let colour: TerminalStyle.Colour =
            switch (internet.status, internet.connectivity) {
            case (.reachable, .full), (.reachable, .unknown): .green
            case (.unknown, _): .yellow
            default: .red
            }
        let plain = StatusText(style: .plain, lastAnswer: lastAnswer)
        var lines = wrapped(plain.summary(of: internet)).prefix(2).map { painted($0, colour) }
        guard height >= 20 else { return lines }
        for (name, path) in [("IPv4", internet.ipv4), ("IPv6", internet.ipv6)] where path.reason != .notAsked {
            lines.append(painted("  \(name)  \(plain.describe(path))", nil))
        }
        return lines
    }

    private func foot(_ state: TopState) -> String {
        if let message = state.message { return painted(DisplayText.sanitized(message), .bold) }
        if state.explanation != nil { return painted("any key closes this", .grey) }
        let keys = ["q quit", "Tab page", "j k move", "h hold", "r release", "c cancel", "t retry", "e explain"]
        let keyLine = keys.joined(separator: "  ")
        let short = keys.map { $0.split(scalar: " ") }.map { $0.count > 2 ? "jk" : "\($0[0])" }.joined(
            separator: " ")
        return painted(DisplayWidth.of(keyLine) <= width ? keyLine : "keys: " + short, .grey)
    }

    /// How many lines each part gets, with its heading. The queue gets what the others leave.
    private func shares(_ state: TopState, room: Int) -> (links: Int, probes: Int, queue: Int) {
        let links = shownLinks(state).isEmpty ? 0 : shownLinks(state).count + 1
        let probes = state.probes.isEmpty ? 0 : state.probes.count + 1
        let queue = queueLines(state) + 1
        if links + probes + queue <= room { return (links, probes, room - links - probes) }
        // Each gets its third; what one does not need, the others get.
        let third = max(2, room / 3)
        var shares = [links, probes, queue].map { min($0, third) }
        var left = room - shares.reduce(0, +)
        for (index, wanted) in [queue, links, probes].enumerated() where left > 0 {
            let place = [2, 0, 1][index]
            let more = min(left, wanted - shares[place])
            shares[place] += more
            left -= more
        }
        return (shares[0], shares[1], shares[2] + max(0, left))
    }

    private func all(_ state: TopState, room: Int) -> [String] {
        let shares = shares(state, room: room)
        return links(state, room: shares.links) + probes(state, room: shares.probes) + queue(state, room: shares.queue)
    }

    // MARK: - Links

    private func shownLinks(_ state: TopState) -> [LinkReport] {
        state.links.filter { !$0.isBackground && $0.linkClass != .loopback }
    }

    private func links(_ state: TopState, room: Int) -> [String] {
        let rows = shownLinks(state).map { report -> [TopCell] in
            let signal = state.signals[report.link.name].map { "\($0) dBm" } ?? ""
            let trouble = report.trouble.map { report.link.isUp ? $0.rawValue : "down" }
            let address = report.addresses.first.map { "\($0.address)/\($0.prefixLength)" } ?? ""
            let families = report.carriesInternet.map(\.title).sorted().joined(separator: " ")
            return [
                TopCell(DisplayText.sanitized(report.link.name), .bold, least: 6),
                TopCell(report.linkClass.rawValue + (report.isMetered ? ", metered" : ""), nil, least: 5),
                TopCell(trouble ?? "up", trouble == nil ? .green : report.link.isUp ? .red : .grey, least: 4),
                TopCell(signal, nil, least: 0), TopCell(families, .green, least: 0),
                TopCell(report.proof?.words ?? "", report.proof?.connectivity.colour, least: 0),
                TopCell(report.isMetered ? report.traffic?.words ?? "" : "", nil, least: 0),
                TopCell(address, .grey, least: 0, isWhole: true),
            ]
        }
        return section(
            ["LINK", "CLASS", "STATE", "SIGNAL", "INTERNET", "PROVED", "BYTES", "NETWORK"], rows, room: room)
    }

    // MARK: - Probes

    private func probes(_ state: TopState, from first: Int = 0, room: Int) -> [String] {
        let chart = ProbesText(style: .plain, width: nil, isUnicode: isUnicode, now: state.now.wall)
        let beats = max(0, min(60, width - 50))
        let rows = state.probes.dropFirst(first).map { report -> [TopCell] in
            let colour: TerminalStyle.Colour =
                report.pause != nil ? .yellow : report.state == .up ? .green : report.state == .down ? .red : .yellow
            let word = report.pause == nil ? report.state.rawValue : "paused"
            let median = report.latency.map { DurationText.milliseconds($0.median) } ?? ""
            let high = report.latency.map { DurationText.milliseconds($0.percentile99) } ?? ""
            let line = chart.chart(report, beats + ProbesText.indentCount)
            return [
                TopCell(DisplayText.sanitized(report.name), .bold, least: 8),
                // Without any group there is no such column.
                TopCell(DisplayText.sanitized(report.group ?? ""), nil, least: 0), TopCell(word, colour, least: 4),
                TopCell(median, nil, least: 7), TopCell(high, nil, least: 0),
                TopCell(beats < 8 ? "" : line, colour, least: 0),
            ]
        }
        return section(["PROBE", "GROUP", "STATE", "P50", "P99", "LATEST"], rows, room: room)
    }

    // MARK: - Queue

    private func queueLines(_ state: TopState) -> Int {
        max(1, state.queue.items.count + state.queue.items.count { $0.running != nil } + state.queue.holds.count)
    }

    private func queue(_ state: TopState, room: Int) -> [String] {
        guard room > 0 else { return [] }
        let words = QueueText(style: .plain, width: nil, stamp: stamp)
        if let trouble = state.queueTrouble {
            return [painted("QUEUE  " + DisplayText.sanitized(trouble), .grey)].prefix(room).map { $0 }
        }
        var lines = [painted("QUEUE  " + words.count(state.queue.count), .bold)]
        lines += words.describe(state.queue.holds).split(scalar: "\n").map { painted(String($0), .yellow) }
        let left = room - lines.count
        guard !state.queue.items.isEmpty, left > 0 else { return Array(lines.prefix(room)) }
        let items = state.queue.items
        let place = state.selectedPlace ?? 0
        // The selected request is in sight, whatever bars its neighbours have.
        var from = 0
        while from < place, items[from...place].reduce(1, { $0 + self.lines(of: $1) }) > left { from += 1 }
        let table = requests(Array(items[from...]), state, words)
        lines += table.prefix(left)
        return Array(lines.prefix(room))
    }

    private func lines(of item: RequestReport) -> Int { item.running == nil ? 1 : 2 }

    private func requests(_ items: [RequestReport], _ state: TopState, _ words: QueueText) -> [String] {
        let bar = QueueProgressText(isUnicode: isUnicode)
        let shown = items.prefix(height)
        let rows = shown.map { item -> [TopCell] in
            let isSelected = item.id.rawValue == state.selected
            return [
                TopCell((isSelected ? ">" : " ") + "\(item.id)", isSelected ? .bold : nil, least: 4),
                TopCell(words.state(item), QueueText.colour(of: item.state), least: 9),
                TopCell(words.age(item.created, state.now.wall), .grey, least: 0),
                TopCell(DisplayText.sanitized(item.condition.description), nil, least: 0),
                TopCell(DisplayText.sanitized("\(item.method) \(item.url)"), nil, least: 0),
            ]
        }
        let table = section([" ID", "STATE", "AGE", "WHEN", "REQUEST"], rows, room: rows.count + 1)
        var lines = Array(table.prefix(1))
        for (line, item) in zip(table.dropFirst(), shown) {
            lines.append(line)
            guard let progress = item.running else { continue }
            let text = bar.line(progress, rate: state.rates[item.id.rawValue], width: max(1, width - 4))
            lines.append(painted("    " + text, .green))
        }
        return lines
    }

    // MARK: - Lines

    /// A cell of a table. Its column is at least as wide as `least`, if there is anything in it; columns with 0 are
    /// left out where there is no room.
    private struct TopCell {
        let text: String
        let colour: TerminalStyle.Colour?
        let least: Int
        /// Whether a part of it means something else, as of an address: then it is left out instead.
        let isWhole: Bool

        init(_ text: String, _ colour: TerminalStyle.Colour?, least: Int, isWhole: Bool = false) {
            (self.text, self.colour, self.least, self.isWhole) = (text, colour, least, isWhole)
        }

        func fitting(_ width: Int) -> String { isWhole && DisplayWidth.of(text) > width ? "" : text }
    }

    /// A table in at most `room` lines; the last one says how many rows are missing.
    private func section(_ heading: [String], _ rows: [[TopCell]], room: Int) -> [String] {
        guard room > 0, !rows.isEmpty else { return [] }
        var widths = heading.indices.map { column in
            let widest = rows.map { DisplayWidth.of($0[column].text) }.max() ?? 0
            return widest == 0 ? 0 : max(widest, heading[column].count)
        }
        narrow(&widths, least: rows[0].map(\.least))
        var lines = [line(zip(heading, widths).map { ($0, $1, .grey) })]
        let fitting = rows.count + 1 <= room ? rows.count : max(0, room - 2)
        for row in rows.prefix(fitting) { lines.append(line(zip(row, widths).map { ($0.fitting($1), $1, $0.colour) })) }
        if fitting < rows.count { lines.append(painted("  and \(rows.count - fitting) more", .grey)) }
        return Array(lines.prefix(room))
    }

    /// Cuts columns until they fit: the last one first, then those that may be left out, then all to their least.
    private func narrow(_ widths: inout [Int], least: [Int]) {
        func excess(_ widths: [Int]) -> Int {
            let used = widths.filter { $0 > 0 }
            return used.reduce(0, +) + Self.gap * max(0, used.count - 1) - width
        }
        func cut(_ column: Int, to limit: Int) {
            let over = excess(widths)
            if over > 0, widths[column] > limit { widths[column] = max(limit, widths[column] - over) }
        }
        // The last column keeps enough to be of use, or goes.
        if let last = widths.indices.last { cut(last, to: 12) }
        for column in widths.indices.reversed() where least[column] > 0 { cut(column, to: max(least[column], 12)) }
        for column in widths.indices.dropLast().reversed() where least[column] == 0 && excess(widths) > 0 {
            widths[column] = 0
        }
        for column in widths.indices.reversed() { cut(column, to: least[column]) }
    }

    private func line(_ cells: [(text: String, width: Int, colour: TerminalStyle.Colour?)]) -> String {
        let columns = cells.filter { $0.width > 0 }
        // Without spaces at the end of the line.
        let used = columns.prefix((columns.lastIndex { !$0.text.isEmpty } ?? -1) + 1)
        var line = ""
        var room = width
        for (number, cell) in used.enumerated() {
            let isLast = number + 1 == used.count
            let limit = min(cell.width, room)
            guard limit > 0 else { break }
            let text =
                isLast
                ? DisplayWidth.cut(cell.text, to: limit, mark: mark)
                : DisplayWidth.fit(cell.text, to: limit, mark: mark)
            line += cell.colour.map { style.paint(text, $0) } ?? text
            room -= limit + Self.gap
            if !isLast { line += String(repeating: " ", count: min(Self.gap, max(0, room + Self.gap))) }
        }
        return line
    }

    private var mark: String { isUnicode ? "…" : "~" }

    private func painted(_ text: String, _ colour: TerminalStyle.Colour?) -> String {
        let text = DisplayWidth.cut(text, to: width, mark: mark)
        return colour.map { style.paint(text, $0) } ?? text
    }

    private func wrapped(_ text: String) -> [String] {
        let words = text.split(scalar: " ", omittingEmptySubsequences: false).map(String.init)
        return WrappedText.lines(words, separator: " ", width: width, indent: 2).map {
            DisplayWidth.cut($0, to: width, mark: mark)
        }
    }
}
