internal import ReachCore
internal import ReachFleet
internal import ReachTerminal

/// Prints what a watch reports: lines for people or for programs.
///
/// It writes without giving up lines: a reader that does not read stops the watch from reading.
final class WatchOutput {
    private let isJSON: Bool
    private let filter: RosterFilter
    private let style = TerminalStyle.current

    init(isJSON: Bool, filter: RosterFilter) {
        self.isJSON = isJSON
        self.filter = filter
    }

    func begin(_ state: inout FleetWatchState) {
        let totals = state.begin { filter.includes($0, $1) }
        guard isJSON else { return StandardOutput.write(lines: "watching \(totals.sentence)\n") }
        object("fleet-snapshot") { json in
            json.field("hosts", Int64(totals.total))
            json.field("online", Int64(totals.counts[.here] ?? 0))
            for word in HostWord.allCases {
                json.key(named: word.rawValue)
                json.value(Int64(totals.counts[word] ?? 0))
            }
        }
    }

    func change(_ change: FleetWatchState.Change) {
        guard filter.includes(change.host, change.presence) else { return }
        guard isJSON else { return StandardOutput.write(lines: text(change)) }
        object("fleet-change") { json in
            json.field("previous", change.previous?.rawValue)
            json.members(of: change.host, change.presence)
        }
    }

    private func text(_ change: FleetWatchState.Change) -> String {
        let presence = change.presence
        var words = style.paint(presence.shown, presence.word.colour)
        if let why = presence.why { words += ": \(DisplayText.sanitized(why))" }
        if presence.isPresumed { words += " (presumed)" }
        if let previous = change.previous { words += "; was \(previous.shown)" }
        let time = presence.since ?? presence.lastSeen
        return "\(time.map(TimeText.describeExactly) ?? "")  \(change.host.id)  \(words)\n"
    }

    func event(_ event: TimelineEvent, of host: RosterHost?, _ engine: EngineFacts) {
        guard host.map({ filter.includes($0, $0.presence(engine)) }) ?? filter.isEmpty else { return }
        EventOutput.write([event], json: isJSON)
    }

    func engine(isConnected: Bool, why: String?) {
        guard isJSON else { return note(isConnected ? "connected again" : why ?? "disconnected") }
        object("fleet-engine") {
            $0.field("connected", isConnected)
            $0.field("why", why)
        }
    }

    /// Trouble, on standard error, so that it is not among the lines.
    func note(_ sentence: String) { StandardError.write("reach-fleet: \(DisplayText.sanitized(sentence))\n") }

    private func object(_ type: String, _ body: (inout JSONWriter) -> Void) {
        StandardOutput.writeJSON { json in
            json.object {
                $0.field("v", 1)
                $0.field("type", type)
                body(&$0)
            }
        }
    }
}
