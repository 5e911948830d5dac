import ReachCore
import ReachRecords

/// Entries of the history, of every kind.
enum HistorySample {
    static let moment = Instant(
        wall: Timestamp(nanosecondsSince1970: 1_795_230_600_123_456_000), boot: BootTime(nanoseconds: 42))

    static let entries: [HistoryEntry] = [
        .started(lastSeen: nil), .started(lastSeen: Timestamp(nanosecondsSince1970: 1_795_230_000_000_000_000)),
        .stopped,
        .unwatched(target: "a.example"), .dropped(count: 7),
        .state(
            HistoryEntry.State(target: "internet", status: .notReachable, reason: "no-route", cause: "route-removed")),
        .state(
            HistoryEntry.State(
                target: "interface:w\u{1b}\"", status: .reachable, linkClass: "wwan", interface: "é\"\\",
                isChange: false)),
        .state(HistoryEntry.State(target: "internet", status: .reachable, connectivity: "limited")),
        .state(
            HistoryEntry.State(
                target: "internet", status: .notReachable, reason: "no-route", rootCause: "no-carrier",
                rootInterface: "et\"h0", cause: "address-removed")),
        .quality(
            QualityPeriod(
                interface: "et\"h0", length: .seconds(300), packets: 60, lost: 3,
                trips: QualityPeriod.Trips(low: .microseconds(9), median: .milliseconds(20), high: .seconds(2)))),
        .quality(QualityPeriod(interface: "eth0", length: .seconds(60), packets: 0, lost: 0, trips: nil)),
    ].map { HistoryEntry($0, at: moment, boot: "b") }
}
