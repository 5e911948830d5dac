import Glibc
import ReachControl
import ReachCore
import ReachTesting
import Testing

@testable import ReachDaemon
import ReachRecords

/// The page of one machine, as text.
@Suite struct MachinePageTests {
    private func html(_ change: (inout MachinePage) -> Void = { _ in }) -> String {
        var page = PageExample.page()
        change(&page)
        return PageExample.html(page)
    }

    @Test func `the page says what is now, and which probes are down`() {
        let text = html()
        #expect(text.contains("internet is reachable through wlan0"), "\(text)")
        #expect(text.contains("1 of 3 probes is down: shop."))
        #expect(text.contains("<p class=\"now degraded\">"), "one that is green says nothing of the probe")
        #expect(html { $0.probes.removeAll { $0.state == .down } }.contains("<p class=\"now up\">"))
        #expect(text.contains("<dt>Network</dt><dd>home</dd>") && text.contains("<dt>Signal</dt><dd>-61 dBm</dd>"))
        #expect(text.contains("<dt>waiting</dt><dd>3</dd>") && text.contains("The oldest was added 2 h 0 min ago."))
    }

    @Test func `an outage is a sentence, with what tests found meanwhile`() {
        let text = html()
        #expect(
            text.contains(
                "<b>internet</b> was down on <time>2026-11-14 12:20:30</time> for 2 h 0 min: nothing answers behind this "
                    + "machine&#39;s own network; wlan0 (wifi) was up."), "\(text)")
        #expect(text.contains("Tests found: nothing answers behind the gateway 192.0.2.1."))
        #expect(text.contains("<b>shop</b> is down since <time>2026-11-24 11:55:30</time>, for 25 min 0 s now"))
    }

    @Test func `a strip and its percentage are from the same records, and ten seconds are no lost day`() {
        let text = html()
        // Six minutes of two days ago, and 25 of today; only these cells have hints.
        #expect(
            text.contains("90 days: 99.96 % up; down 2026-11-24 for 25 min 0 s, 2026-11-22 for 6 min 0 s"), "\(text)")
        #expect(text.contains("24 hours: 98.25 % up; down 12:00 for 20 min 30 s, 11:30 for 4 min 30 s"))
        #expect(text.contains("<title>2026-11-22: down for 6 min 0 s</title>"))
    }

    @Test func `probes of a group have a section, in the order of the configuration`() {
        let text = html { page in
            for (index, group) in [nil, "Shops", "Shops"].enumerated() { page.probes[index].group = group }
            page.probes.append(PageExample.probe("late", .up))
        }
        let headings = text.components(separatedBy: "<h2 id=\"group-").dropFirst().map { $0.prefix { $0 != "<" } }
        #expect(headings == ["0\">Probes", "1\">Shops"])
    }

    @Test func `what the history does not have any more is from the archive`() throws {
        let edges = PagePeriods(at: PageExample.now.wall, zone: PageExample.zone).all[0].edges
        var rows: [ArchiveRow] = []
        // 80 days ago only coarse rows are left; three days ago both are there, and the fine ones count.
        for (day, level) in [(80, ArchiveLevel.twoHours), (3, .twoHours), (3, .tenMinutes)] {
            for number in 0..<(86_400 / level.step) {
                var row = ArchiveRow(
                    level, slot: level.slot(of: edges[89 - day] / 1_000_000_000 + 1800 + number * level.step))
                (row.ok, row.fail) = level == .tenMinutes ? (60_000, 0) : (30_000, 30_000)
                rows.append(row)
            }
        }
        let archive = ProbeArchive(probe: "shop", target: "", rows)
        let shares = PageArchives.shares(archive, between: edges)
        #expect(shares.count == 90 && shares[9].downShare == 0.5 && shares[86].down == 0 && shares[50].isEmpty)
        let text = html { $0.archives = ["shop": shares] }
        #expect(text.contains("2026-09-05: down for 12 h 0 min") || text.contains("down for 11 h"), "\(text)")
    }

    @Test func `days are local days, on those of 23 and 25 hours too`() {
        // Clocks are set forward on 29 March 2026 at 1:00 UTC, and back on 25 October.
        let zone = LocalZone { time in
            let seconds = time.nanosecondsSince1970 / 1_000_000_000
            return LocalZone.Offset(seconds: 1_774_746_000..<1_792_890_000 ~= seconds ? 7200 : 3600, name: "C")
        }
        for now in [1_774_800_000, 1_792_900_000, 1_795_519_230] {
            let time = Timestamp(nanosecondsSince1970: Int64(now) * 1_000_000_000)
            let days = PagePeriods(at: time, zone: zone).all[0]
            #expect(days.edges.count == 91)
            let stamps = days.edges.map { zone.time(Timestamp(nanosecondsSince1970: $0)) }
            #expect(stamps.allSatisfy { $0.timeOfDay == "00:00:00" })
            #expect(Set(stamps.map(\.date)).count == 91)
            #expect(stamps[89].date == zone.time(time).date)
        }
    }

    @Test func `text from outside is text, whoever chose it`() {
        let attack = "</title></script><script>document.title='taken'</script><b onclick=x>\u{202e}\u{1b}[2J"
        let text = html { page in
            page.probes = [PageExample.probe(attack, .down, detail: attack)]
            page.links = [PageExample.link(attack, .wifi, ssid: "<script>x</script>")]
            page.states = [(attack, PageExample.internet(interface: attack))]
            page.history = PageExample.history(probes: [attack])
        }
        #expect(!text.contains("<script>document") && !text.contains("<script>x") && !text.contains("<b onclick"))
        #expect(!text.contains("\u{202e}") && !text.contains("\u{1b}"))
        #expect(text.components(of: "<script") == 1)
    }

    @Test func `keys in the URLs of probes and portals are not on the page`() {
        let text = html { page in
            page.probes[0].target = "https://user:word@shop.example:8443/status?key=geheim#geheim"
            var state = PageExample.internet()
            state.connectivity = .portal
            state.portal = "https://portal.example/?session=geheim"
            page.states = [("internet", state)]
        }
        #expect(text.contains("https://shop.example:8443") && text.contains("a login page answers"))
        #expect(!text.contains("geheim") && !text.contains("user:word"))
    }

    @Test func `without a history, links or probes it is a whole page`() {
        let text = html { page in
            page.history = nil
            page.links = nil
            page.probes = []
            page.states = []
            page.queue = nil
        }
        #expect(text.contains("The kernel could not be asked") && text.contains("Nothing is known yet"))
        #expect(text.contains("No history is kept") && text.hasSuffix("</html>\n"))
    }

    @Test func `the last page of a daemon says that it is the last`() {
        #expect(html { $0.isLast = true }.contains("reachd was stopped on 2026-11-24 12:20:30"))
        #expect(!html().contains("reachd was stopped"))
    }
}

extension String {
    fileprivate func components(of part: String) -> Int { components(separatedBy: part).count - 1 }

    fileprivate func components(separatedBy part: String) -> [Substring] {
        var rest = self[...]
        var parts: [Substring] = []
        while let place = rest.utf8Range(of: part) {
            parts.append(rest[..<place.lowerBound])
            rest = rest[place.upperBound...]
        }
        return parts + [rest]
    }
}

/// The page in a real browser: names of pictures, contrast, nothing wider than the page, no fault of its policy.
@Suite(
    .enabled(if: TestProgram.path("chromium") != nil, "Chromium is not installed (apt-get install chromium)"),
    .serialized)
struct MachinePageLookTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func look(_ page: MachinePage, _ options: [String]) throws {
        let file = try directory.file("index.html", PageExample.html(page))
        let clock = PageExample.now.wall.nanosecondsSince1970 / 1_000_000
        _ = try ChildProcess.run(
            ["python3", ProjectFile.path("Tests/Field/fleet/look"), "--machine", "--clock", "\(clock)"]
                + options + [file])
    }

    private static var many: [String] { ["shop"] + (2...60).map { "probe-\($0)" } }

    /// Writes the documentation's pictures where REACH_SCREENSHOTS says, else only takes them.
    @Test(arguments: [(390, 3, false), (390, 60, true), (768, 3, true), (1280, 3, false), (1280, 60, true)])
    func `it is readable at three widths, light and dark, with few and many probes`(
        width: Int, probes: Int, isDark: Bool
    ) throws {
        let folder = getenv("REACH_SCREENSHOTS").map { String(cString: $0) } ?? directory.path
        let name = "page-\(probes)-\(width)-\(isDark ? "dark" : "light").png"
        let page = probes == 3 ? PageExample.page() : PageExample.page(Self.many)
        try look(
            page,
            ["--check", "--whole", "--size", "\(width)x800", "--shoot", "\(folder)/\(name)"]
                + (isDark ? ["--dark"] : []))
    }

    @Test func `it is readable on paper, and a name without a space does not widen it`() throws {
        var page = PageExample.page()
        page.probes.append(
            PageExample.probe(String(repeating: "x", count: 120), .down, detail: String(repeating: "y", count: 300)))
        try look(page, ["--check", "--print"])
        try look(page, ["--check", "--size", "390x800"])
    }

    @Test func `a page that is no longer written says so, with its age`() throws {
        let clock = PageExample.now.wall.nanosecondsSince1970 / 1_000_000 + 3 * 3_600_000
        let banner = "document.getElementById('age')"
        try look(
            PageExample.page(),
            [
                "--clock", "\(clock)", "--expect",
                "!\(banner).hidden && \(banner).textContent.startsWith('This page is 3 hours old.')",
            ])
        try look(PageExample.page(), ["--expect", "\(banner).hidden"])
    }
}
