/// A command that prints lines of JSON, and the types of its lines.
package enum LineCommand: String, CaseIterable, Sendable {
    case status
    case watch
    case links
    case explain
    case history
    case report
    case probe
    case probes
    case queue
    case fleet

    /// A line: its type in the definitions, and the one with the keys that all lines of this kind have besides.
    struct Line: Sendable {
        let type: String
        let envelope: String?

        init(_ type: String, in envelope: String? = nil) {
            self.type = type
            self.envelope = envelope
        }
    }

    var lines: [Line] {
        switch self {
        case .status: [Line("TargetStatus")]
        case .watch: Self.events(["Change", "Resync", "Disconnected", "Reconnected"] + Self.ofBoth + Self.notices)
        case .links: [Line("Link")]
        case .explain: [Line("Explanation"), Line("Diagnosis")]
        case .history:
            ["Started", "Stopped", "HistoryState", "HistoryQuality", "HistoryEvidence", "HistoryUnwatched", "Dropped"]
                .map {
                    Line($0, in: "HistoryRecord")
                }
                + ["Change", "Wake", "ProbeEvent", "QueueEvent", "Started", "Stopped", "Gap"].map {
                    Line($0, in: "Recorded")
                }
        case .report: [Line("Report")]
        case .probe: [Line("ProbeResult")]
        case .probes: [Line("ProbeReport")]
        case .queue:
            ["Request", "Receipt", Self.queueExplanation, "Answer", "QueueAction", "QueueStatus"].map { Line($0) }
                + Self.events(["QueueEvent", "Dropped"])
        case .fleet:
            ["FleetHost", "FleetHostReport", "FleetChange"].map { Line($0, in: "FleetMember") }
                + [
                    "FleetEvent", "FleetSnapshot", "FleetEngine", "FleetOutage", "FleetSelf",
                    "FleetStream", "FleetHosts", "FleetKey", "FleetConfiguration", "FleetFinding", "FleetRevision",
                    "FleetVersion", "FleetLine", "FleetAlert", "FleetQuiet", "FleetNote", "FleetAcknowledgement",
                    "FleetAction",
                    "FleetReport",
                ].map { Line($0) }
        }
    }

    private static let ofBoth = ["Wake", "Dropped", "ProbeEvent", "QueueEvent"]
    private static let notices = [
        "LinkNotice", "AddressNotice", "NeighbourNotice", "RouteNotice", "RuleNotice", "NexthopNotice", "SettingNotice",
        "PortalNotice",
    ]
    /// io.reach.Monitor has an Explanation as well.
    static let queueExplanation = "io.reach.Queue.Explanation"

    private static func events(_ types: [String]) -> [Line] { types.map { Line($0, in: "Numbered") } }

    /// What the key `type` says in lines of these types.
    static let words: [String: [String]] = [
        "TargetStatus": ["status"], "Link": ["link"], "Explanation": ["explanation"], "Diagnosis": ["diagnosis"],
        "Report": ["report"], "ProbeResult": ["probe-result"], "ProbeReport": ["probe-report"],
        "Request": ["queue-item"], "Receipt": ["queue-receipt"], queueExplanation: ["queue-explanation"],
        "Answer": ["queue-answer"], "QueueAction": ["queue-action"],
        "QueueStatus": ["queue-status"],
        "Change": ["snapshot", "change"], "Resync": ["resync"], "Wake": ["wake"], "Dropped": ["dropped"],
        "ProbeEvent": ["probe"], "QueueEvent": ["queue"], "Disconnected": ["disconnected"],
        "Reconnected": ["reconnected"], "Started": ["started"], "Stopped": ["stopped"], "Gap": ["gap"],
        "HistoryState": ["state"], "HistoryUnwatched": ["unwatched"], "HistoryQuality": ["quality"],
        "HistoryEvidence": ["evidence"],
        "LinkNotice": ["link"], "AddressNotice": ["address"], "NeighbourNotice": ["neighbour"],
        "RouteNotice": ["route"], "RuleNotice": ["rule"], "NexthopNotice": ["nexthop"], "SettingNotice": ["setting"],
        "PortalNotice": ["portal"],
        "FleetHost": ["fleet-host"], "FleetHostReport": ["fleet-host"], "FleetChange": ["fleet-change"],
        "FleetEvent": ["fleet-event"], "FleetSnapshot": ["fleet-snapshot"], "FleetEngine": ["fleet-engine"],
        "FleetOutage": ["fleet-outage"], "FleetSelf": ["fleet-self"],
        "FleetStream": ["fleet-stream"], "FleetHosts": ["fleet-hosts"], "FleetKey": ["fleet-key"],
        "FleetConfiguration": ["fleet-configuration"], "FleetFinding": ["fleet-finding"],
        "FleetRevision": ["fleet-revision"], "FleetVersion": ["fleet-version"], "FleetLine": ["fleet-line"],
        "FleetAlert": ["fleet-alert"],
        "FleetQuiet": ["fleet-quiet"], "FleetNote": ["fleet-note"],
        "FleetAcknowledgement": ["fleet-acknowledgement"], "FleetAction": ["fleet-action"],
        "FleetReport": ["fleet-report"],
    ]
}
