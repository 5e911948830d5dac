internal import ReachCore
internal import ReachPage
internal import ReachQueue
internal import ReachRecords
internal import ReachTerminal

/// The page of one machine: what is now, its links, what is watched with strips of its past, outages, the queue. One
/// self-contained file; its script only says how old the page is, and loads it again.
///
/// Names of networks, titles of portals and answers of servers are in it, so every text is escaped where it is written.
struct MachinePage {
    let host: String
    let version: String
    let moment: Instant
    let zone: LocalZone
    let periods: PagePeriods
    /// Whether the daemon ends.
    var isLast = false
    var states: [(name: String, state: ReachabilityState)] = []
    var probes: [ProbeReport] = []
    /// `nil` if the kernel could not be asked.
    var links: [LinkReport]?
    var queue: QueueMetrics?
    /// `nil` where none is kept.
    var history: HistorySource?
    /// The days of probes that have an archive.
    var archives: [String: [TimeShare]] = [:]

    init(host: String, version: String, at moment: Instant, zone: LocalZone) {
        (self.host, self.version, self.moment, self.zone) = (host, version, moment, zone)
        periods = PagePeriods(at: moment.wall, zone: zone)
    }

    /// - Parameter nonce: See `HTMLPage.head`.
    func html(nonce: String) -> [UInt8] {
        let name = host.isEmpty ? "This machine" : host
        var output = HTMLPage.head(
            title: name + ": network", nonce: nonce, styles: PageStyles.text.utf8, hasScript: true)
        let now = PageNow(self)
        output += "<header><h1>\(HTMLPage.escaped(name))</h1>\n\(now.html)</header>\n<main>\n".utf8
        for section in [linkSection] + targetSections + [outageSection, queueSection] {
            output += section.utf8
        }
        output += "</main>\n<footer>\(footer)</footer>\n".utf8
        output += "<script nonce=\"\(nonce)\">\n\(PageScript.text)</script>\n</html>\n".utf8
        return output
    }

    private var footer: String {
        let zoneName = HTMLPage.escaped(zone.names(from: moment.wall, to: moment.wall))
        return
            "<p>Written by reachd \(HTMLPage.escaped(version)) on "
            + "<time id=\"written\" datetime=\"\(moment.wall)\">\(stamp(moment.wall))"
            + "</time> (\(zoneName)): when something changes, and at least every 15 minutes.</p>\n"
    }

    /// A local date and time of day.
    func stamp(_ time: Timestamp) -> String {
        let local = zone.time(time)
        return "\(local.date) \(local.timeOfDay)"
    }

    /// The same, in one piece.
    func time(_ time: Timestamp) -> String { "<time>\(stamp(time))</time>" }

    // MARK: - Links

    private static let mostLinks = 64

    private var linkSection: String {
        guard let links else { return HTMLPage.section("links", "Links", "<p>The kernel could not be asked.</p>\n") }
        let shown = links.filter { !$0.isBackground && $0.linkClass != .loopback }
        let items = shown.prefix(Self.mostLinks).map { PageLink($0).html }.joined()
        let more =
            shown.count > Self.mostLinks ? "<p>\(shown.count - Self.mostLinks) more links are left out.</p>\n" : ""
        let list = shown.isEmpty ? "<p>There is none.</p>\n" : "<ul class=\"links\">\n\(items)</ul>\n"
        return HTMLPage.section("links", "Links", list + more)
    }

    // MARK: - What is watched

    /// A section for what the kernel has paths to, then one for each group of probes.
    private var targetSections: [String] {
        var groups: [(name: String, probes: [ProbeReport])] = []
        for probe in probes {
            let name = probe.group ?? "Probes"
            if let place = groups.firstIndex(where: { $0.name == name }) {
                groups[place].probes.append(probe)
            } else {
                groups.append((name, [probe]))
            }
        }
        let targets = states.map { PageRow($0.name, $0.state, self) }
        let sections =
            [("targets", "Targets", targets)]
            + groups.enumerated().map { ("group-\($0)", $1.name, $1.probes.map { PageRow($0, self) }) }
        let legend =
            history == nil && archives.isEmpty
            ? "<p>No history is kept, so the past is not shown.</p>\n" : TimeStrip.legend()
        return sections.enumerated().map { number, section in
            let rows = section.2.map { $0.html(self) }.joined()
            return HTMLPage.section(
                section.0, section.1,
                "<ul class=\"rows\">\n\(rows)</ul>\n" + (number == sections.count - 1 ? legend : ""))
        }
    }

    // MARK: - Outages

    private static let mostOutages = 40
    /// A probe that flaps must not make the page long; its strips show it.
    private static let mostOutagesOfTarget = 12

    private var outageSection: String {
        guard let history else { return "" }
        let names = states.map { ($0.name, $0.name) } + probes.map { (HistoryEntry.target(ofProbe: $0.name), $0.name) }
        var outages: [(title: String, outage: RecordedOutage)] = []
        var leftOut = 0
        for (recorded, title) in names {
            let all = RecordedOutage.list(
                of: recorded, history, history.timeline(of: recorded, since: periods.first, until: moment.wall))
            leftOut += max(0, all.count - Self.mostOutagesOfTarget)
            outages += all.suffix(Self.mostOutagesOfTarget).map { (title, $0) }
        }
        outages.sort { ($0.outage.from, $0.title) > ($1.outage.from, $1.title) }
        leftOut += max(0, outages.count - Self.mostOutages)
        let items = outages.prefix(Self.mostOutages).map { item in
            "<li\(item.outage.isOpen ? " class=\"open\"" : "")>\(sentence(item.outage, of: item.title))</li>\n"
        }
        let list =
            items.isEmpty ? "<p>There was none in 90 days.</p>\n" : "<ul class=\"outages\">\n\(items.joined())</ul>\n"
        let more =
            leftOut > 0 ? "<p>\(leftOut) earlier ones are left out; <code>reach history</code> has them.</p>\n" : ""
        return HTMLPage.section("outages", "Outages", list + more)
    }

    private func sentence(_ outage: RecordedOutage, of title: String) -> String {
        let began = time(outage.from)
        let length = DurationText.describe(outage.duration)
        let when =
            outage.isOpen
            ? "since \(began), for \(length) now" : "on \(began) for \(length)"
        let tests = outage.finding.map { "<br><small>Tests found: \(HTMLPage.escaped($0)).</small>" }
        return "<b>\(HTMLPage.escaped(title))</b> \(outage.isOpen ? "is" : "was") down \(when): "
            + "\(HTMLPage.escaped(outage.sentence)).\(tests ?? "")"
    }

    // MARK: - The queue

    private var queueSection: String {
        guard let queue else { return "" }
        let now = queue.statistics
        var notes: [String] = []
        if let oldest = now.oldest { notes.append("The oldest was added \(DurationText.describe(oldest)) ago.") }
        if now.isHeld { notes.append("The whole queue is held.") }
        if now.openBreakers > 0 {
            notes.append("\(now.openBreakers) destinations failed too often and are left alone.")
        }
        if now.isDegraded { notes.append("Its file cannot be written.") }
        let tiles = HTMLPage.tiles([
            ("waiting", "\(now.waiting)"), ("running", "\(now.running)"), ("held", "\(now.held)"),
            ("given up", "\(now.dead)"),
            ("stored", ByteCount.describe(now.bytes)),
        ])
        return HTMLPage.section("queue", "Queue", tiles + notes.map { "<p>\($0)</p>\n" }.joined())
    }
}

/// The page's script. It writes no text of the data anywhere.
enum PageScript {
    /// After 20 minutes a page is older than the daemon lets it become. A reader who has something open or in focus
    /// keeps the page.
    static let text = """
        (() => {
        const written = Date.parse(document.getElementById("written").dateTime), \
        banner = document.getElementById("age");
        const look = () => {
          const minutes = Math.floor((Date.now() - written) / 60000);
          banner.hidden = minutes < 20;
          const age = minutes < 120 ? minutes + " minutes" : minutes < 2880 ? Math.floor(minutes / 60) + " hours"
            : Math.floor(minutes / 1440) + " days";
          if (!banner.hidden) banner.textContent = "This page is " + age + " old. reachd does not write it any more, \
        or not where it is read from.";
        };
        look();
        setInterval(look, 60000);
        setInterval(() => {
          const isRead = document.activeElement !== document.body || String(getSelection()) !== "";
          if (!document.hidden && !isRead) location.reload();
        }, 30000);
        })();

        """
}
