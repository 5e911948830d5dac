import ReachControl
import ReachCore
import ReachQueue
import ReachTerminal
import Testing

@testable import reach

@Suite struct QueueTextTests {
    private let text = QueueText(style: .plain, width: nil) { "s\($0.nanosecondsSince1970 / 1_000_000_000)" }

    private static func moment(_ second: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: second * 1_000_000_000),
            boot: BootTime(nanoseconds: second * 1_000_000_000))
    }

    private func item(
        _ state: QueuedRequestState, _ change: (inout RequestReport) -> Void = { _ in }
    ) -> RequestReport {
        var request = RequestSpecification(
            method: "PUT", stored: "https://host.example/a\u{1b}[2J", to: Destination(stored: ""))
        request.condition.isUnmetered = true
        var item = RequestReport(
            RequestID(rawValue: 12), QueuedRequest(request, owner: 1000), created: Self.moment(100).wall,
            deadline: Self.moment(900).wall, state: state)
        change(&item)
        return item
    }

    private func reason(_ blocker: Blocker, _ text: String, until: Int64? = nil) -> QueueExplanation.Reason {
        .init(
            blocker: blocker, since: Self.moment(120), until: until.map(Self.moment), text: text,
            remedy: "It starts when there is one.")
    }

    private func progress(
        _ interface: String, sent: Int64 = 0, of toSend: Int64? = nil, received: Int64 = 0, of toReceive: Int64? = nil
    ) -> AttemptProgress {
        AttemptProgress(
            id: RequestID(rawValue: 12), interface: interface, began: Self.moment(290),
            bytes: ByteProgress(sent: sent, toSend: toSend, received: received, toReceive: toReceive))
    }

    private var progress: AttemptProgress { progress("eth\u{7}0", sent: 1 << 20, of: 4 << 20) }

    @Test(arguments: [
        (0, "0 B"), (-1, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (10_189, "10 KiB"),
        (10_240, "10 KiB"), (1_048_000, "1023 KiB"), (1_048_575, "1.0 MiB"), (5 << 30, "5.0 GiB"),
        (Int64.max, "8.0 EiB"),
    ])
    func `bytes have two or more digits and a unit`(bytes: Int64, words: String) {
        #expect(ByteCount.describe(bytes) == words)
    }

    @Test func `requests are a table, and their texts cannot control the terminal`() {
        let items = [
            item(.waiting) { $0.blockers = .metered },
            item(.dead) {
                $0.status = 404
                $0.reason = "refused"
                $0.tries = 3
            },
        ]
        #expect(
            text.table(items, at: Self.moment(160).wall) == """
                ID  STATE                AGE        TRIES  WHEN       METHOD  URL
                12  waiting (metered)    1 min 0 s  0      unmetered  PUT     https://host.example/a\\u{1b}[2J
                12  dead (404, refused)  1 min 0 s  3      unmetered  PUT     https://host.example/a\\u{1b}[2J

                """)
        #expect(text.table([], at: Self.moment(0).wall) == "no requests\n")
        #expect([0, 1, 2].map(text.count).map { $0.split(separator: " ")[0] } == ["no", "1", "2"])
    }

    @Test func `a request is described by its own properties only`() {
        #expect(
            text.describe(item(.waiting)) == """
                request 12 is waiting
                  request: PUT https://host.example/a\\u{1b}[2J
                  when: unmetered
                  priority: normal
                  added: s100 by user 1000
                  expires: s900

                """)
        let whole = text.describe(
            item(.done) {
                $0.orderKey = "o"
                $0.uniqueness = .unique(name: "k", mode: .keep)
                $0.idempotency = .key("i")
                $0.bodyBytes = 2048
                $0.over = Self.moment(300).wall
                $0.tries = 2
                $0.attempts = 1
                $0.status = 201
                $0.answerBytes = 5
                $0.running = progress
            })
        for line in [
            "order: o", "key: k", "idempotency key: i", "body: 2.0 KiB", "over: s300",
            "attempts: 2 made: 1 failed, 0 cut off by the network", "answer: status 201, 5 B",
            "now: 1.0 MiB of 4.0 MiB sent, 0 B received by eth\\u{7}0",
        ] {
            #expect(whole.contains("  \(line)\n"), "\(line)")
        }
        #expect(!whole.contains("expires"))
    }

    @Test func `an explanation names the obstacle, since when, and the remedy`() {
        let explanation = item(.waiting) {
            $0.blockers = [.metered, .requestHold]
            $0.reasons = [reason(.metered, "Every path is metered."), reason(.requestHold, "A user holds it.")]
        }
        #expect(
            text.explain(explanation, at: Self.moment(300)) == """
                request 12 is waiting (hold, metered)
                  PUT https://host.example/a\\u{1b}[2J
                  metered: Every path is metered. (3 min 0 s)
                    It starts when there is one.
                  hold: A user holds it. (3 min 0 s)
                    It starts when there is one.

                """)
    }

    @Test func `a request between two attempts waits for the next one`() {
        let waiting = item(.backoff) {
            $0.status = 503
            $0.blockers = [.backoff]
        }
        let first = text.explain(waiting, at: Self.moment(0)).split(separator: "\n").first
        #expect(first == "request 12 is waiting for its next attempt (503)")
        #expect(text.state(waiting) == "backoff (503)")
    }

    @Test(arguments: [
        (QueuedRequestState.running, "An attempt is under way by eth0."), (.ready, "Ready; starts by eth0 shortly."),
        (.dead, "It is given up. \"reach queue retry 12\" sends it again."), (.done, "It was answered"),
        (.cancelled, "It was cancelled"), (.lingering, "Its path is gone"),
    ])
    func `a request without obstacles is explained by its state`(state: QueuedRequestState, sentence: String) {
        let explained = text.explain(item(state) { $0.interface = "eth0" }, at: Self.moment(0))
        #expect(explained.contains("\n  " + sentence))
    }

    @Test func `a waiting request says for what, how long, and which link would do`() {
        func line(
            _ reason: QueueExplanation.Reason?, links: [String] = [], when condition: NetworkCondition? = nil
        ) -> String {
            let waiting = item(.waiting) {
                $0.condition = condition ?? $0.condition
                $0.reasons = [reason].compactMap { $0 }
            }
            return text.waiting(waiting, links: links, at: Self.moment(300))
        }
        let metered = reason(.metered, "Every path is metered.")
        #expect(line(metered, links: ["wlan0 down"]) == "waiting for unmetered for 3 min 0 s: wlan0 down")
        #expect(line(metered) == "waiting for unmetered for 3 min 0 s: every path is metered")
        let wifi = reason(.metered, "Waiting for Wi-Fi: wlan0 is down.")
        #expect(line(wifi) == "waiting for unmetered for 3 min 0 s: wlan0 is down")
        #expect(line(metered, when: .any) == "waiting for the network for 3 min 0 s: every path is metered")
        #expect(
            line(reason(.backoff, "It failed.", until: 330)) == "waiting for 3 min 0 s: it failed; 30 s left")
        #expect(line(metered, links: ["w\u{1b}"]).hasSuffix("w\\u{1b}"))
        #expect(line(nil) == "waiting")
    }

    @Test func `progress has a bar, bytes, rate and the time that is left, and fits`() {
        let bar = QueueProgressText(isUnicode: false)
        #expect(
            bar.line(progress, rate: 512 << 10, width: 200)
                == "sending  [######------------------]  25 %  1.0 MiB of 4.0 MiB  512 KiB/s  6.0 s left  by eth\\u{7}0"
        )
        #expect(bar.line(progress, rate: 0, width: 200).contains("0 B/s  by"))
        // On a narrow terminal the bar is shortened first.
        #expect(
            bar.line(progress, rate: 512 << 10, width: 90)
                == "sending  [####------------]  25 %  1.0 MiB of 4.0 MiB  512 KiB/s  6.0 s left  by eth\\u{7}0")
        // Then figures are left out, none is cut.
        #expect(
            bar.line(progress, rate: 512 << 10, width: 60)
                == "sending  [###---------]  25 %  1.0 MiB of 4.0 MiB  512 KiB/s")
        #expect(bar.line(progress, rate: 512 << 10, width: 39) == "sending  [#####-----------------]  25 %")
        #expect(bar.line(progress, rate: nil, width: 20) == "sending  [##------] ")
        let receiving = progress("eth0", sent: 5, of: 5, received: 99, of: 100)
        #expect(
            bar.line(receiving, rate: nil, width: 200)
                == "receiving  [#######################-]  99 %  99 B of 100 B  by eth0")
        let early = progress("eth0", sent: 0, of: 4096)
        #expect(bar.line(early, rate: nil, width: 200).hasPrefix("connecting  ["), "nothing was sent yet")
        #expect(bar.line(progress("eth0"), rate: nil, width: 200) == "waiting  0 B  by eth0")
        let endless = progress("eth0", received: 2048)
        #expect(bar.line(endless, rate: 1024, width: 200) == "receiving  2.0 KiB  1.0 KiB/s  by eth0")
        #expect(QueueProgressText(isUnicode: true).line(progress, rate: nil, width: 90).contains("██████░░"))
    }

    @Test func `a rate covers the last seconds, falls while nothing arrives, and restarts with an attempt`() {
        func at(_ second: Int64) -> BootTime { BootTime(nanoseconds: second * 1_000_000_000) }
        var rate = TransferRate()
        #expect(rate.bytesPerSecond(at: at(0)) == nil)
        rate.add(0, at: at(0))
        #expect(rate.bytesPerSecond(at: at(1)) == nil)
        rate.add(1000, at: at(1))
        #expect(rate.bytesPerSecond(at: at(1)) == 1000)
        #expect(rate.bytesPerSecond(at: at(4)) == 250)
        for second in 2...20 { rate.add(1000 + Int64(second) * 10, at: at(Int64(second))) }
        #expect(rate.bytesPerSecond(at: at(20)) == 10)
        rate.add(5, at: at(21))
        #expect(rate.bytesPerSecond(at: at(21)) == nil)
    }

    @Test func `the line of a wait follows what is known`() {
        var line = QueueWaitLine()
        let bar = QueueProgressText(isUnicode: false)
        func shown(width: Int = 200) -> String { line.text(text, bar, width: width, at: Self.moment(300)) }
        #expect(shown() == "")
        func link(_ name: String, _ linkClass: LinkClass, isUp: Bool = true, _ trouble: Reason? = nil) -> LinkReport {
            var link = Link(index: 3, name: name)
            link.flags = isUp ? [.up] : []
            return LinkReport(
                link, linkClass: linkClass, controller: nil, lower: [], trouble: trouble, brokenLower: nil,
                isMetered: linkClass == .wwan, addresses: [], carriesInternet: [])
        }
        let links = [
            link("lo", .loopback, isUp: false, .linkDown), link("wlan0", .wifi, isUp: false, .linkDown),
            link("wwan0", .wwan, .noCarrier), link("eth0", .wired), link("eth1", .wired, .noCarrier),
        ]
        let explanation = item(.waiting) { $0.reasons = [reason(.metered, "Every path is metered.")] }
        line.update(explanation, links: links, at: BootTime(nanoseconds: 0))
        #expect(shown() == "waiting for unmetered for 3 min 0 s: wlan0 down, eth1 no-carrier")
        #expect(shown(width: 8) == "waitin…")
        line.update(progress, at: BootTime(nanoseconds: 0))
        #expect(shown().hasPrefix("sending  ["))
        line.away = "the daemon\u{7} hung up"
        #expect(shown() == "the daemon\\u{7} hung up; reconnecting")
        line.away = nil
        line.update(explanation, links: [], at: BootTime(nanoseconds: 0))
        #expect(shown() == "waiting for unmetered for 3 min 0 s: every path is metered")
    }

    @Test func `values of the command line are read, and errors are refused`() throws {
        #expect(try QueueArgument.header("A: b: c") == HeaderField("A", "b: c"))
        #expect(try QueueArgument.header("A:") == HeaderField("A", ""))
        for text in ["Content-Length: 3", "proxy-connection: x", "Host: a b", "TE:", "A: b\nC: d"] {
            #expect {
                try QueueArgument.header(text)
            } throws: {
                let name = text.prefix { $0 != ":" }
                return String(describing: $0).contains("'\(name)'")
            }
        }
        for text in ["A", ":b", ""] { #expect(throws: (any Error).self) { try QueueArgument.header(text) } }
        #expect(try QueueArgument.statuses("404") == 404...404)
        #expect(try QueueArgument.statuses("200-299") == 200...299)
        for text in ["", "a", "99", "600", "300-200", "200-", "200-300-400"] {
            #expect(throws: (any Error).self) { try QueueArgument.statuses(text) }
        }
        #expect(QueueArgument.url("http://h/d/", uploading: "/tmp/a b\u{e9}.txt") == "http://h/d/a%20b%C3%A9.txt")
        #expect(QueueArgument.url("http://h/d", uploading: "/tmp/a") == "http://h/d")
        #expect(QueueArgument.url("http://h/d/", uploading: "-") == "http://h/d/")
    }
}
