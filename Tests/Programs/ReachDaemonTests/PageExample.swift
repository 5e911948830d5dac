import ReachCore
import ReachQueue
import ReachTerminal

@testable import ReachDaemon
import ReachRecords

/// A machine with two links whose provider failed once, and probes of which one is down.
enum PageExample {
    static let zone = LocalZone { _ in LocalZone.Offset(seconds: 3600, name: "CET") }
    /// 2026-11-24 at 12:20:30 in that zone.
    static let now = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_519_230_000_000_000),
        boot: BootTime(nanoseconds: 8_640_000_000_000_000))

    static func moment(_ before: Int) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: now.wall.nanosecondsSince1970 - Int64(before) * 1_000_000_000),
            boot: BootTime(nanoseconds: now.boot.nanoseconds - Int64(before) * 1_000_000_000))
    }

    static func internet(_ status: ReachabilityStatus = .reachable, interface: String = "wlan0") -> ReachabilityState {
        var machine = StatusMachine(target: .internet, at: moment(86_400))
        var path = NetworkPath(status: status)
        path.interface = status == .reachable ? interface : nil
        path.traits.linkClass = status == .reachable ? .wifi : nil
        _ = machine.observe(
            Verdict(ipv4: path, ipv6: NetworkPath(status: .notReachable)), cause: .start, epoch: 1, at: moment(86_400))
        return machine.state
    }

    static func link(_ name: String, _ linkClass: LinkClass, ssid: String? = nil) -> LinkReport {
        var link = Link(index: 2, name: name)
        link.flags = [.up, .running, .lowerUp]
        var report = LinkReport(
            link, linkClass: linkClass, controller: nil, lower: [], trouble: nil,
            brokenLower: nil, isMetered: false, addresses: [], carriesInternet: [.ipv4])
        if let ssid {
            report.wireless = WirelessLink(network: WirelessNetwork(ssid: SSID(Array(ssid.utf8)), bssid: nil))
            report.wireless?.signal = -61
        }
        return report
    }

    static func probe(_ name: String, _ state: ProbeReport.State, detail: String = "") -> ProbeReport {
        var report = ProbeReport(
            name: name, target: "https://\(name).example/", state: state, since: moment(3600).wall,
            interval: .seconds(30))
        report.last = ProbeResult(
            state == .up ? .ok : .fail(.timeout), detail: detail, started: moment(5), duration: .milliseconds(23))
        return report
    }

    /// Days of the Internet and of probes; `shop` was down for six minutes two days ago, and is now.
    static func history(probes: [String], isRunning: Bool = true) -> HistorySource {
        var entries: [(Int, HistoryEntry.Content)] = [(80 * 86_400, .started(lastSeen: nil))]
        func state(_ target: String, _ status: ReachabilityStatus, _ connectivity: String? = nil)
            -> HistoryEntry.Content
        {
            .state(
                HistoryEntry.State(
                    target: target, status: status, linkClass: "wifi", interface: "wlan0",
                    reason: status == .reachable ? nil : "no-route", connectivity: connectivity))
        }
        entries += [
            (80 * 86_400, state("internet", .reachable, "full")),
            (10 * 86_400, state("internet", .reachable, "limited")),
        ]
        entries += [
            (
                10 * 86_400 - 900,
                .evidence(
                    OutageEvidence(
                        target: "internet", outcome: "failed", party: "provider",
                        text: "nothing answers behind the gateway 192.0.2.1",
                        steps: ["gateway ok: 192.0.2.1 answers"]))
            ),
            (10 * 86_400 - 7200, state("internet", .reachable, "full")),
        ]
        for (number, name) in probes.enumerated() {
            let target = "probe:" + name
            entries.append((60 * 86_400 - number * 3600, state(target, .reachable)))
            entries += [(2 * 86_400, state(target, .notReachable)), (2 * 86_400 - 360, state(target, .reachable))]
            if name == "shop" { entries.append((1500, state(target, .notReachable))) }
        }
        let log = HistoryLog(
            entries: entries.sorted { $0.0 > $1.0 }.map { HistoryEntry($0.1, at: moment($0.0), boot: "boot") })
        return HistorySource(log, now: now, boot: "boot", isRunning: isRunning)
    }

    static func page(_ names: [String] = ["shop", "mail", "git"], detail: String = "no answer within 5 s")
        -> MachinePage
    {
        var page = MachinePage(host: "lodge", version: "0.1", at: now, zone: zone)
        page.states = [("internet", internet())]
        page.links = [link("wlan0", .wifi, ssid: "home"), link("eth0", .wired)]
        page.probes = names.map { $0 == "shop" ? probe($0, .down, detail: detail) : probe($0, .up) }
        var statistics = QueueStatistics()
        (statistics.waiting, statistics.oldest, statistics.bytes) = (3, .seconds(7200), 48_000)
        page.queue = QueueMetrics(statistics: statistics, counts: QueueCounts())
        page.history = history(probes: names)
        return page
    }

    static func html(_ page: MachinePage) -> String { String(decoding: page.html(nonce: "n"), as: UTF8.self) }
}
