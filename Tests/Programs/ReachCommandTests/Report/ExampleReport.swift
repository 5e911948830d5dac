import ReachControl
import ReachCore
import ReachQueue
import ReachRecords

@testable import reach

/// A report of three days with a cable that was pulled, a failure of the provider, and a daemon that did not run.
enum ExampleReport {
    static let zone = LocalZone { time in
        // Clocks are set back on 25 October at 1:00 UTC.
        let isSummer = time.nanosecondsSince1970 < 1_792_890_000_000_000_000
        return LocalZone.Offset(seconds: isSummer ? 7200 : 3600, name: isSummer ? "CEST" : "CET")
    }

    /// 2026-10-24 at 0:00 in that zone.
    static let begin: Int64 = 1_792_792_800

    static func time(_ second: Int) -> Timestamp {
        Timestamp(nanosecondsSince1970: (begin + Int64(second)) * 1_000_000_000)
    }

    static func moment(_ second: Int) -> Instant {
        Instant(wall: time(second), boot: BootTime(nanoseconds: Int64(second) * 1_000_000_000))
    }

    static let day = 86_400

    static func state(
        _ status: ReachabilityStatus, _ connectivity: String? = nil, reason: String? = nil, root: String? = nil,
        target: String = "internet"
    ) -> HistoryEntry.Content {
        let isUp = status == .reachable
        var recorded = HistoryEntry.State(
            target: target, status: status, linkClass: isUp ? "wired" : nil, interface: isUp ? "eth0" : nil,
            reason: reason, rootCause: root, rootInterface: root == nil ? nil : "eth0", connectivity: connectivity)
        recorded.gateway = isUp ? "192.0.2.1" : nil
        return .state(recorded)
    }

    /// What tests found while the provider failed.
    static let evidence = OutageEvidence(
        target: "internet", outcome: "failed", party: "provider",
        text: "nothing answers beyond 192.0.2.1",
        steps: ["gateway ok: 192.0.2.1 answers (0.62 ms)", "internet failed: none of 3 endpoints answers"])

    static func log(_ more: [(HistoryEntry.Content, Int)] = []) -> HistoryLog {
        let down = state(.notReachable, reason: "no-route", root: "no-carrier")
        let records: [(HistoryEntry.Content, Int)] =
            [
                (.started(lastSeen: nil), 0), (state(.reachable, "full"), 0), (down, 3 * 3600),
                (state(.reachable, "full"), 3 * 3600 + 600), (state(.reachable, "limited"), day + 4 * 3600),
                (.evidence(evidence), day + 4 * 3600 + 30), (state(.reachable, "full"), day + 6 * 3600),
                (.stopped, 2 * day),
                (.started(lastSeen: nil), 2 * day + 7200), (state(.reachable, "full"), 2 * day + 7200),
            ] + more
        return HistoryLog(
            entries: records.sorted { $0.1 < $1.1 }.map { HistoryEntry($0, at: moment($1), boot: "boot") })
    }

    /// A night's records of a line, with three bad hours: a third is lost, and answers take up to a second.
    static let night: [(HistoryEntry.Content, Int)] = (1...144).map { number in
        let second = 18 * 3600 + number * 300
        let isBad = (60..<96).contains(number)
        let trip = Duration.milliseconds(isBad ? 240 + number % 7 * 60 : 18 + number % 5)
        let trips = QualityPeriod.Trips(low: trip / 2, median: trip, high: trip * 2)
        let period = QualityPeriod(
            interface: "eth0", length: .seconds(300), packets: 60, lost: isBad ? 14 + number % 9 : 0, trips: trips)
        return (.quality(period), second)
    }

    /// A probe each minute that takes 10 to 30 ms and fails in the provider's outage, and three requests.
    static func journal(probe: String = "shop", url: String = "https://shop.example/") -> JournalFigures {
        var figures = JournalFigures(HistoryClock([], now: moment(3 * day), boot: "boot"))
        var number: Int64 = 0
        func add(_ event: EncodedEvent) {
            number += 1
            let bytes = JournalLine.event(
                JournalEvents.encode(event, boot: "boot"), log: String(repeating: "a", count: 32), number: number)
            guard let json = try? JSONReader.read(bytes), let record = try? JournalRecord(reading: json) else { return }
            figures.add(record)
        }
        for minute in 0..<(3 * 1440) {
            let second = minute * 60
            let isDown = (day + 4 * 3600..<day + 6 * 3600).contains(second)
            var report = ProbeReport(name: probe, target: url, state: .up, since: time(0), interval: .seconds(60))
            report.last = ProbeResult(
                isDown ? .fail(.timeout) : .ok, started: moment(second), duration: .milliseconds(10 + minute % 21))
            add(.probe(ProbeEvent(.result, at: moment(second), report: report)))
            for (id, start, end, kind) in requests {
                if start / 60 == minute { add(.queue(queued(id, .queued, at: start))) }
                if end / 60 == minute { add(.queue(queued(id, kind, at: end))) }
            }
        }
        return figures
    }

    /// ``journal(probe:url:)``, made once.
    private static let standardJournal = journal()

    private static let requests: [(Int64, Int, Int, QueueEvent.Kind)] = [
        (1, 3600, 3660, .done), (2, day + 5 * 3600, day + 6 * 3600 + 60, .done), (3, 2 * day, 2 * day + 600, .dead),
    ]

    private static func queued(_ id: Int64, _ kind: QueueEvent.Kind, at second: Int) -> QueueEvent {
        var event = QueueEvent(kind, at: moment(second), epoch: 1)
        event.request = RequestID(rawValue: id)
        if kind == .dead { event.reason = "expired" }
        return event
    }

    static func report(
        _ log: HistoryLog = log(), _ journal: Report.Record<JournalFigures>? = nil, wanted: [String] = [],
        since: Timestamp? = nil, until: Timestamp? = nil, host: String = "lodge", labels: ReportLabels = ReportLabels(),
        traffic: MeteredTraffic? = MeteredTraffic([meteredHour])
    ) -> Report {
        Report(
            of: log, journal ?? .recorded(standardJournal), traffic, wanted: wanted, since: since, until: until,
            now: moment(3 * day), boot: "boot", isRunning: true, host: host, zone: zone,
            labels: labels, isClockSynchronized: true)
    }

    /// In the second hour.
    private static let meteredHour = MeteredTraffic.Hour(
        number: begin / 3600 + 1, interface: "wwan0", linkClass: "wwan", received: 9 << 20, sent: 3 << 10)

    static func html(_ report: Report) -> String {
        String(decoding: ReportPage(report).html(nonce: "n"), as: UTF8.self)
    }
}
