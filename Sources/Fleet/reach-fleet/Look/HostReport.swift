internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

/// All about one host.
struct HostReport {
    /// A document of desired state that concerns it.
    struct Wanted {
        let key: String
        let revision: UInt64
        let document: DesiredState
    }

    let host: RosterHost
    let presence: HostPresence
    let events: [TimelineEvent]
    let desired: [Wanted]
    let now: Timestamp

    var text: String {
        var lines = ["\(host.id)\(host.report?.name.map { " (\($0))" } ?? ""): \(presence.shown)"]
        lines += facts.map { "  \($0.name): \($0.text)" }
        lines += desired.map { "  wanted by \($0.key) (revision \($0.revision)): \(Self.text($0.document))" }
        lines += events.isEmpty ? [] : ["  latest events:"]
        return lines.map { DisplayText.sanitized($0) + "\n" }.joined()
            + events.map { "    " + EventOutput.text($0) }.joined()
    }

    private var facts: [(name: String, text: String)] {
        let report = host.report
        let all: [(String, String?)] = [
            ("retired", host.retired.map(time)),
            ("since", presence.since.map(time)),
            ("by its own clock", presence.hostSince.map(TimeText.describe)),
            (presence.isPresumed ? "presumably" : "why", presence.why),
            ("last seen", presence.lastSeen.map(time)),
            ("class", report?.internet?.linkClass?.rawValue),
            ("gateway", report?.internet?.gateway?.description),
            ("address", host.connection?.address?.description),
            (
                "labels",
                Self.list(host.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
            ),
            ("groups", Self.list(host.groups)),
            ("version", report?.version),
            ("waiting events", report.map { String($0.behind) }),
            ("lost events", report.flatMap { $0.dropped > 0 ? String($0.dropped) : nil }),
            ("queue", report.map(Self.queue)),
            ("down", report.map { Self.list($0.down) }),
            ("clock", clock),
            ("key", host.key),
            ("second key", host.otherKey),
        ]
        return all.compactMap { name, text in text.flatMap { $0.isEmpty ? nil : (name, $0) } }
    }

    private var clock: String? {
        guard let offset = host.clockOffset, !RosterHost.isTolerable(offset) else { return nil }
        let size = DurationText.describe(offset < .zero ? .zero - offset : offset)
        return offset < .zero ? "\(size) ahead of the engine's" : "\(size) behind the engine's"
    }

    private func time(_ time: Timestamp) -> String {
        "\(TimeText.describe(time)), \(DurationText.describe(max(.zero, time.duration(to: now)))) ago"
    }

    private static func list(_ texts: [String]) -> String { texts.joined(separator: ", ") }

    private static func queue(_ report: RosterHost.Report) -> String {
        let holds = report.queueHolds.isEmpty ? "" : ", held: \(list(report.queueHolds))"
        return "\(report.queueWaiting) waiting\(holds)"
    }

    private static func text(_ document: DesiredState) -> String {
        var words = "queue \(document.queue.rawValue)"
        if document.fraction < 1 { words += " for \(document.fraction * 100) % of the hosts" }
        if let reason = document.reason { words += ": \(reason)" }
        if let author = document.author { words += ", by \(author)" }
        if let until = document.until { words += ", until \(TimeText.describe(until))" }
        return words
    }

    func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("v", 1)
            json.field("type", "fleet-host")
            json.members(of: host, presence)
            json.field(
                "wanted",
                array: { json in
                    for wanted in desired {
                        json.object {
                            $0.field("key", wanted.key)
                            $0.field("revision", Int64(clamping: wanted.revision))
                            $0.key("document")
                            $0.value(written: wanted.document.bytes)
                        }
                    }
                })
            json.field("events", array: { json in for event in events { json.timelineEvent(event) } })
        }
    }
}
