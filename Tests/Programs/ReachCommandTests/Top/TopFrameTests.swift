import Foundation
import ReachControl
import ReachCore
import ReachQueue
@testable import ReachTerminal
import Testing

@testable import reach

/// The frames of `reach top` at several sizes, and what keys do.
@Suite struct TopFrameTests {
    static let now = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_000_000_000_000), boot: BootTime(nanoseconds: 1_000_000_000_000))

    static func link(
        _ name: String, _ linkClass: LinkClass, isUp: Bool = true, trouble: Reason? = nil, metered: Bool = false,
        address: String? = nil, internet: Set<IPAddress.Family> = []
    ) -> LinkReport {
        var link = Link(index: 2, name: name)
        if isUp { link.flags = [.up, .running, .lowerUp] }
        let addresses = address.flatMap { IPAddress($0) }.map {
            InterfaceAddress(interface: 2, address: $0, prefixLength: 24)
        }
        return LinkReport(
            link, linkClass: linkClass, controller: nil, lower: [], trouble: trouble, brokenLower: nil,
            isMetered: metered, addresses: [addresses].compactMap { $0 }, carriesInternet: internet)
    }

    static func request(_ id: Int64, _ state: QueuedRequestState, _ url: String = "https://host.example/a")
        -> RequestReport
    {
        let request = RequestSpecification(method: "PUT", stored: url, to: Destination(stored: ""))
        var item = RequestReport(
            RequestID(rawValue: id), QueuedRequest(request, owner: 0),
            created: Timestamp(nanosecondsSince1970: 900_000_000_000),
            deadline: Timestamp(nanosecondsSince1970: 9_000_000_000_000), state: state)
        if state == .running {
            item.running = AttemptProgress(
                id: item.id, interface: "eth0", began: now, bytes: ByteProgress(sent: 1 << 20, toSend: 4 << 20))
        }
        return item
    }

    static func state(requests: Int = 6, page: TopState.Page = .all) -> TopState {
        var state = TopState(page: page, now: now)
        state.links = [
            link("eth0", .wired, address: "192.0.2.2", internet: [.ipv4]),
            link("wlan0", .wifi, address: "198.51.100.7"),
            link("wwan0", .wwan, isUp: false, trouble: .linkDown, metered: true),
        ]
        state.signals = ["wlan0": -56]
        var probe = ProbeReport(
            name: "shop", target: "https://shop.example/", state: .up, since: now.wall, interval: .seconds(10))
        probe.latency = ProbeLatency(
            count: 40, median: .milliseconds(12), percentile90: .milliseconds(20), percentile99: .milliseconds(31))
        probe.beats = (0..<40).map { (number: Int) -> ProbeReport.Beat in
            let microseconds = UInt32(1000 * (number % 8 + 1))
            return number == 20 ? ProbeReport.Beat(.fail) : ProbeReport.Beat(.ok, microseconds: microseconds)
        }
        state.probes = [probe]
        var queue = TopState.Queue()
        queue.items = (0..<requests).map { request(Int64($0 + 1), $0 == 0 ? .running : .waiting) }
        queue.count = requests
        state.update(queue)
        state.rates = [1: 1 << 20]
        return state
    }

    private func frame(_ width: Int, _ height: Int, colour: Bool = false, unicode: Bool = true) -> TopFrame {
        TopFrame(style: TerminalStyle(hasColour: colour), isUnicode: unicode, width: width, height: height) { "\($0)" }
    }

    @Test func `a line as wide as the terminal keeps its last column`() {
        #expect(
            TerminalScreen.output(["abc", "def"], over: nil) == "\u{1b}[H\u{1b}[Kabc\r\n\u{1b}[Jdef",
            "what is erased stands before what is written")
        #expect(
            TerminalScreen.output(["abc", "def"], over: ["abc", "x", "y"])
                == "\u{1b}[2;1H\u{1b}[Kdef\u{1b}[3;1H\u{1b}[J")
    }

    @Test func `a screen of 80 columns and 24 rows has all parts`() {
        let lines = frame(80, 24).lines(Self.state())
        #expect(
            lines == [
                "asking reachd",
                "LINK   CLASS          STATE  SIGNAL   INTERNET  NETWORK",
                "eth0   wired          up              IPv4      192.0.2.2/24",
                "wlan0  wifi           up     -56 dBm            198.51.100.7/24",
                "wwan0  wwan, metered  down",
                "PROBE  STATE  P50      P99      LATEST",
                "shop   up     12.0 ms  31.0 ms  ▃▄▅▆▇█▁▂▃▄!▆▇█▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█",
                "QUEUE  6 requests are on their way",
                " ID  STATE    AGE         WHEN  REQUEST",
                ">1   running  1 min 40 s  any   PUT https://host.example/a",
                "    sending  [████░░░░░░░░░░░░]  25 %  1.0 MiB of 4.0 MiB  1.0 MiB/s  3.0 s left",
                " 2   waiting  1 min 40 s  any   PUT https://host.example/a",
                " 3   waiting  1 min 40 s  any   PUT https://host.example/a",
                " 4   waiting  1 min 40 s  any   PUT https://host.example/a",
                " 5   waiting  1 min 40 s  any   PUT https://host.example/a",
                " 6   waiting  1 min 40 s  any   PUT https://host.example/a",
                "q quit  Tab page  j k move  h hold  r release  c cancel  t retry  e explain",
            ], "\n\(lines.joined(separator: "\n"))")
    }

    @Test func `a screen of 40 columns keeps what matters most`() {
        let lines = frame(40, 24, unicode: false).lines(Self.state())
        #expect(lines.contains { $0.hasPrefix("eth0   wired") && $0.contains("up") })
        #expect(lines.contains { $0.hasPrefix("shop   up     12.0 ms") })
        #expect(lines.contains { $0.hasPrefix(">1   running") })
        #expect(lines.last == "keys: q Tab jk h r c t e")
        #expect(lines.allSatisfy { $0.count <= 40 })
    }

    @Test(arguments: [(1, 1), (8, 3), (20, 10), (40, 12), (40, 24), (80, 24), (132, 40), (200, 50), (500, 200)])
    func `no frame is larger than its screen, and the selected request is in sight`(width: Int, height: Int) {
        for requests in [0, 1, 7, 400] {
            for page in [TopState.Page.all, .queue] {
                var state = Self.state(requests: requests, page: page)
                let frame = frame(width, height)
                for key in [TopKey.home, .end, .pageUp, .up] {
                    _ = state.handle(key, rows: frame.rows(state))
                    let lines = frame.lines(state)
                    #expect(lines.count <= max(1, height))
                    #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(lines.filter { $0.count > width })")
                    if let selected = state.selected, height >= 12, width >= 20 {
                        #expect(lines.contains { $0.hasPrefix(">\(selected)") }, "\(selected) \(requests) \(page)")
                    }
                }
            }
        }
    }

    @Test func `many links and probes leave room for the queue, and say how many are missing`() {
        var state = Self.state(requests: 30)
        state.links = (0..<40).map { Self.link("eth\($0)", .wired) }
        state.probes = Array(repeating: state.probes[0], count: 40)
        let lines = frame(80, 24).lines(state)
        #expect(
            lines.count == 24 && lines.filter { $0.contains(" more") }.count == 2, "\(lines.joined(separator: "\n"))")
        #expect(lines.filter { $0.contains("PUT https") }.count >= 4)
        let whole = frame(80, 200).lines(state)
        #expect(whole.filter { $0.hasPrefix("eth") }.count == 40 && whole.filter { $0.hasPrefix("shop") }.count == 40)
    }

    @Test func `the same state draws the same lines, and colours change none of their columns`() {
        let state = Self.state()
        #expect(frame(80, 24).lines(state) == frame(80, 24).lines(state))
        let (plain, painted) = (frame(80, 24).lines(state), frame(80, 24, colour: true).lines(state))
        #expect(plain.map(DisplayWidth.of) == painted.map(WrappedText.visibleCount))
    }

    @Test func `wide and hostile names keep the columns and control nothing`() {
        var state = Self.state()
        state.links = [
            Self.link("eth\u{1b}[2J", .wired), Self.link("网络接口", .wifi), Self.link("e\u{301}th\u{202e}", .wired),
            Self.link(String(repeating: "长", count: 60), .wired),
        ]
        state.update(
            TopState.Queue(items: [
                Self.request(1, .waiting, "https://h/\u{1b}]0;x\u{7}" + String(repeating: "网", count: 90))
            ]))
        state.message = "a\u{1b}[31m"
        for width in [20, 40, 80] {
            let lines = frame(width, 24).lines(state)
            #expect(lines.allSatisfy { !$0.contains("\u{1b}") && !$0.contains("\u{202e}") })
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(lines)")
        }
        let rows = frame(80, 24).lines(state).filter { $0.contains("wired") || $0.contains("wifi") }
        #expect(rows.count == 4)
        let columns = rows.map { row in
            DisplayWidth.of(String(row.prefix(upTo: row.range(of: "wi")?.lowerBound ?? row.startIndex)))
        }
        #expect(Set(columns).count == 1, "\(rows)")
    }

    @Test func `a daemon that is away, or keeps no queue, is a line`() {
        var state = Self.state()
        state.away = "no daemon answers"
        #expect(frame(80, 24).lines(state).first == "no daemon answers; reconnecting")
        state.queueTrouble = "this daemon keeps none"
        #expect(frame(80, 24).lines(state).contains("QUEUE  this daemon keeps none"))
    }

    // MARK: - Keys

    @Test(arguments: [
        ([0x1b, 0x5b, 0x41], [TopKey.up]), ([0x1b, 0x4f, 0x42], [.down]), ([0x1b], [.escape]),
        ([0x0d, 0x09], [.enter, .tab]),
        ([0x1b, 0x5b, 0x35, 0x7e, 0x6a], [.pageUp, .character("j")]), ([0x1b, 0x5b, 0x31, 0x3b, 0x35, 0x43], []),
        ([0xff, 0x00, 0x71], [.character("q")]), ([0x1b, 0x5b], []),
        ([0x1b, 0x5b, 0x48, 0x1b, 0x5b, 0x46], [.home, .end]),
    ]) func `what a terminal sends is keys`(bytes: [UInt8], keys: [TopKey]) { #expect(TopKey.keys(in: bytes) == keys) }

    @Test func `keys choose a request and order what becomes of it`() {
        var state = Self.state(requests: 3)
        func press(_ key: TopKey) -> TopState.Effect { state.handle(key, rows: 2) }
        #expect(press(.character("h")) == .order(.hold(1)) && press(.down) == .redraw)
        #expect(press(.character("r")) == .order(.release(2)) && press(.end) == .redraw)
        #expect(press(.character("t")) == .order(.retry(3)) && press(.enter) == .order(.explain(3)))
        #expect(press(.character("c")) == .redraw && state.message == "cancel request 3? y or n")
        #expect(press(.character("n")) == .redraw && state.message == nil)
        #expect(press(.character("c")) == .redraw && press(.character("y")) == .order(.cancel(3)))
        state.explanation = ["request 3 is waiting"]
        #expect(frame(80, 24).lines(state).contains("request 3 is waiting"))
        #expect(press(.character("h")) == .redraw && state.explanation == nil)
        #expect(press(.tab) == .redraw && state.page == .queue && press(.character("q")) == .quit)
    }

    @Test func `the selection stays with its request, and goes to a neighbour if that is gone`() {
        var state = Self.state(requests: 3)
        _ = state.handle(.down, rows: 2)
        state.update(
            TopState.Queue(items: [Self.request(9, .waiting), Self.request(2, .waiting), Self.request(3, .waiting)]))
        #expect(state.selected == 2)
        state.update(TopState.Queue(items: [Self.request(9, .waiting), Self.request(3, .waiting)]))
        #expect(state.selected == 3)
        state.update(TopState.Queue())
        #expect(state.selected == nil && state.handle(.character("h"), rows: 2) == .redraw)
        #expect(state.message == "no request is selected")
    }

    @Test func `without requests, probes and Wi-Fi nothing is drawn again`() {
        var state = Self.state(requests: 0)
        (state.probes, state.signals) = ([], [:])
        #expect(state.nextChange == nil)
        #expect(Self.state().nextChange == .seconds(1))
    }

    @Test func `the kernel's table of Wi-Fi links has their signals`() {
        let text = """
            Inter-| sta-|   Quality        |   Discarded packets               | Missed | WE
             face | tus | link level noise |  nwid  crypt   frag  retry   misc | beacon | 22
             wlan0: 0000   54.  -56.  -256        0      0      0      0      8        0
            wl:p1: 0000    0    -256  -256        0      0      0      0      0        0
            bad
            """
        #expect(WirelessSignals.parse(text) == ["wlan0": -56])
        #expect(WirelessSignals.parse("") == [:])
    }

    @Test(arguments: [
        ("abc", 3), ("网络", 4), ("e\u{301}", 1), ("🙂", 2), ("…█▁", 3), ("ﾊ", 1), ("", 0),
    ]) func `text has the columns that a terminal gives it`(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
        for width in 0...6 {
            #expect(DisplayWidth.of(DisplayWidth.fit(text, to: width, mark: "…")) == width)
            #expect(DisplayWidth.of(DisplayWidth.cut(text, to: width, mark: "…")) <= width)
        }
    }

    @Test(arguments: [
        ("internet is reachable", 16, "internet is…"), ("waiting (class)", 12, "waiting…"),
        ("GET http://192.0.2.1/", 12, "GET http://…"), ("via 192.0.2.1 metric 100", 14, "via 192.0.2.1…"),
    ]) func `text is cut between words, unless too little would be left`(text: String, width: Int, cut: String) {
        #expect(DisplayWidth.cut(text, to: width, mark: "…") == cut)
    }

    @Test func `broken probes come first, and those that answer last`() {
        let states: [(String, ProbeReport.State)] = [("a", .up), ("b", .down), ("c", .up), ("d", .down)]
        let probes = states.map { name, state in
            ProbeReport(
                name: name, target: "192.0.2.9", state: state, since: Self.now.wall, interval: .seconds(10))
        }
        #expect(TopState.brokenFirst(probes).map(\.name) == ["b", "d", "a", "c"])
    }
}
