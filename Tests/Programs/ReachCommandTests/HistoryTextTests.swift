import ReachCore
import ReachRecords
@testable import ReachTerminal
import Testing

@testable import reach

@Suite struct HistoryTextTests {
    private let log = HistoryLog(
        entries: [
            (.started(lastSeen: nil), 0), (.state(Self.up), 0), (.state(Self.down), 600), (.state(Self.up), 630),
            (.state(Self.down), 3000), (.dropped(count: 4), 3600), (.state(Self.up), 4200), (.stopped, 6000),
            (.started(lastSeen: nil), 7200), (.state(Self.up), 7200), (.unwatched(target: "internet"), 9000),
        ].map { HistoryEntry($0, at: Self.moment($1), boot: "boot") })

    private static let up = HistoryEntry.State(
        target: "internet", status: .reachable, linkClass: "wired", interface: "eth0", cause: "carrier-gained")
    private static let down = HistoryEntry.State(
        target: "internet", status: .notReachable, reason: "no-carrier", cause: "carrier-lost")

    private static func moment(_ second: Int) -> Instant {
        let nanoseconds = Int64(second) * 1_000_000_000
        return Instant(wall: Timestamp(nanosecondsSince1970: nanoseconds), boot: BootTime(nanoseconds: nanoseconds))
    }

    private func text(width: Int?, colour: Bool = false, unicode: Bool = false) -> HistoryText {
        HistoryText(style: TerminalStyle(hasColour: colour), width: width, isUnicode: unicode) { time in
            "s\(time.nanosecondsSince1970 / 1_000_000_000)"
        }
    }

    private func summed(
        _ timelines: [HistoryTimeline]
    ) -> [(timeline: HistoryTimeline, summary: HistorySummary)] {
        timelines.map { ($0, HistorySummary($0)) }
    }

    private func timeline(_ target: String = "internet") -> HistoryTimeline {
        HistoryTimeline(
            of: target, in: log, since: .seconds(10_000), now: Self.moment(10_000), boot: "boot", isRunning: true)
    }

    @Test func `a target has a line of summary and a timeline as wide as the terminal`() {
        #expect(
            text(width: 54).overview(summed([timeline()])) == """
                internet  up 91.25 %, 2 outages of 10 min 30 s in all,
                    the longest 10 min 0 s, 1 of them under a minute,
                    unknown for 10 min 0 s,
                    not observed for 36 min 40 s
                    ###+###########___???#########......#########.....
                    eth0 (wired)
                    s0                                          s10000
                    # up  + up and down  _ down  ? unknown
                    . not observed

                """)
    }

    /// The line below a timeline of a hundred seconds, in which these paths begin at these seconds; `nil` is an outage.
    private func passages(_ paths: [(second: Int, interface: String?, linkClass: String)], width: Int) -> String {
        let entries = paths.map { path in
            let isUp = path.interface != nil
            let state = HistoryEntry.State(
                target: "internet", status: isUp ? .reachable : .notReachable, linkClass: isUp ? path.linkClass : nil,
                interface: path.interface)
            return HistoryEntry(.state(state), at: Self.moment(path.second), boot: "boot")
        }
        let timeline = HistoryTimeline(
            of: "internet", in: HistoryLog(entries: entries), since: .seconds(100), now: Self.moment(100), boot: "boot",
            isRunning: true)
        return HistoryPassages.text(timeline, width: width)
    }

    @Test func `the line below the timeline names the interfaces where they change`() {
        #expect(
            passages([(0, "eth0", "wired"), (50, "wlan0", "wifi"), (80, "wlan0", "wwan")], width: 50)
                == "eth0 (wired)             wlan0 (wifi)   wlan0")
        #expect(passages([(0, "eth0", "wired"), (20, nil, ""), (40, "eth0", "wired")], width: 50) == "eth0 (wired)")
        #expect(passages([(20, nil, ""), (40, "eth0", "wired")], width: 50) == "                    eth0 (wired)")
        #expect(passages([(0, nil, "")], width: 50) == "")
    }

    @Test func `many paths in few cells become marks, and the line is no wider than the timeline`() {
        let many = (0..<50).map { (second: $0 * 2, interface: Optional("link\($0)"), linkClass: "wired") }
        for width in [1, 5, 20, 50, 200, 1000] {
            let line = passages(many, width: width)
            #expect(line.count <= width)
            #expect(!line.isEmpty)
        }
        #expect(passages(many, width: 50) == String(repeating: "'", count: 50))
    }

    @Test func `without a terminal there is no timeline`() {
        let lines = text(width: nil).overview(summed([timeline(), timeline("other")])).split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[1] == "other  not observed for 2 h 46 min")
    }

    @Test(arguments: [1, 3, 4, 5, 12, 80, 300])
    func `no timeline is wider than its terminal`(width: Int) throws {
        let lines = text(width: width, unicode: true).overview(summed([timeline()])).split(separator: "\n")
        let bar = lines.first { line in line.contains { "█▄▁▒·".contains($0) } }
        #expect(try #require(bar).count <= max(width, 5))
    }

    @Test func `colours change with the state, not in each cell`() {
        let lines = text(width: 14, colour: true, unicode: true).overview(summed([timeline()])).split(separator: "\n")
        let bar = lines.first { $0.hasPrefix("    \u{1b}") }
        #expect(
            bar.map(String.init) == "    "
                + [(31, "▄"), (32, "██"), (31, "▁"), (32, "██"), (2, "·"), (32, "██"), (2, "·")]
                .map { "\u{1b}[\($0)m\($1)\u{1b}[0m" }.joined())
    }

    @Test func `the changes are a table`() {
        let rows = HistoryRow.rows(of: log, matching: HistoryQuery(), now: Self.moment(10_000), boot: "boot")
        #expect(
            text(width: nil).changes(rows) == """
                TIME   TARGET    STATUS             FOR          THROUGH       CAUSE
                s0               reachd started
                s0     internet  reachable          10 min 0 s   eth0 (wired)  carrier-gained
                s600   internet  not reachable      30 s         no-carrier    carrier-lost
                s630   internet  reachable          39 min 30 s  eth0 (wired)  carrier-gained
                s3000  internet  not reachable      20 min 0 s   no-carrier    carrier-lost
                s3600            4 records lost
                s4200  internet  reachable          30 min 0 s   eth0 (wired)  carrier-gained
                s6000            reachd stopped
                s7200            reachd started
                s7200  internet  reachable          30 min 0 s   eth0 (wired)  carrier-gained
                s9000  internet  no longer watched

                """)
        #expect(text(width: nil).changes([]) == "")
    }

    @Test func `an outage names the probes that it took along, three of many`() {
        func state(_ target: String, _ status: ReachabilityStatus, _ reason: String? = nil) -> HistoryEntry.Content {
            .state(HistoryEntry.State(target: target, status: status, reason: reason))
        }
        let probes = (1...5).map { HistoryEntry.target(ofProbe: "p\($0)") }
        let entries =
            [(state("internet", .reachable), 0)] + probes.map { (state($0, .reachable), 0) }
            + [(state("internet", .notReachable, "no-carrier"), 600)]
            + probes.map { (state($0, .unknown, "no-path"), 600) }
        let log = HistoryLog(entries: entries.map { HistoryEntry($0, at: Self.moment($1), boot: "boot") })
        let rows = HistoryRow.rows(of: log, matching: HistoryQuery(), now: Self.moment(1000), boot: "boot")
        let lines = text(width: nil).changes(rows).split(separator: "\n")
        #expect(lines.count == 8, "\(lines)")
        #expect(lines[7].contains("no-carrier, took along probe:p1, probe:p2, probe:p3 and 2 more"), "\(lines)")
    }

    @Test(arguments: [40, 60, 80]) func `no line is wider than its terminal, and what moves below a row has its label`(
        width: Int
    ) {
        let rows = HistoryRow.rows(of: log, matching: HistoryQuery(), now: Self.moment(10_000), boot: "boot")
        let changes = text(width: width).changes(rows)
        let all =
            text(width: width).overview(summed([timeline()]))
            + text(width: width).outages([HistorySummary(timeline())]) + changes
        #expect(all.split(separator: "\n").filter { $0.count > width } == [])
        let below = changes.split(separator: "\n").filter { $0.hasPrefix("    ") && $0.dropFirst(4).first != " " }
        #expect(below.allSatisfy { $0.contains(": ") }, "\(below)")
        // Each word of the wide table is whole in the narrow one.
        let words = Set(changes.split { " \n".contains($0) })
        let whole = text(width: nil).changes(rows).split { " \n".contains($0) }.dropFirst(6)
        #expect(Set(whole).subtracting(words) == [])
    }

    @Test func `what was proved is next to the path, unless the Internet answers`() {
        let words: [String?] = ["limited", "full", "portal", nil]
        let entries = words.enumerated().map { number, word in
            HistoryEntry(
                .state(
                    HistoryEntry.State(
                        target: "internet", status: .reachable, linkClass: "wired", interface: "eth0",
                        connectivity: word)),
                at: Self.moment(number), boot: "boot")
        }
        let rows = HistoryRow.rows(
            of: HistoryLog(entries: entries), matching: HistoryQuery(), now: Self.moment(10), boot: "boot")
        let lines = text(width: nil).changes(rows).split(separator: "\n").dropFirst()
        #expect(lines.map { $0.contains("eth0 (wired), ") } == [true, false, true, false])
        #expect(lines.first?.contains("eth0 (wired), limited") == true)
    }

    @Test func `an empty history is a sentence, not a timeline`() {
        #expect(text(width: 80).overview(summed([])) == "nothing is known of that time\n")
    }

    @Test func `texts from outside cannot rewrite the screen`() {
        var state = Self.up
        state.interface = "e\u{1b}[2J"
        state.target = "t\u{1b}[2J"
        let log = HistoryLog(entries: [HistoryEntry(.state(state), at: Self.moment(0), boot: "boot")])
        let rows = HistoryRow.rows(of: log, matching: HistoryQuery(), now: Self.moment(1), boot: "boot")
        #expect(!text(width: nil).changes(rows).contains("\u{1b}"))
        let timeline = HistoryTimeline(
            of: state.target, in: log, since: nil, now: Self.moment(1), boot: "boot", isRunning: true)
        #expect(!text(width: 80).overview(summed([timeline])).contains("\u{1b}"))
    }
}
