internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct EventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print what the hosts reported, in the order in which it arrived.",
        discussion: """
            Times are the engine's: a host's clock may be wrong. If they differ by more than 2 s, both are shown. Each \
            event is printed once, however often it was sent.

            Exit status: 0 printed, 1 there is no event.

            Example: reach fleet events --since 24h --host till-7
            """)

    @Option(
        help: ArgumentHelp("How far back to begin, by the time of arrival.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var since: Duration = .seconds(3600)

    @Option(help: "Only this host.", transform: { try FleetArgument.host($0) })
    var host: String?

    @Flag(help: "Print a JSON object for each event, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func run() throws {
        let link = try engine.connect()
        let now = try ServerStatus.present(link)
        var timeline = FleetTimeline()
        var count = 0
        try JetStream(link).read(
            FleetNames.events, filter: host.map(FleetNames.eventSubject), from: .time(now + (.zero - since))
        ) { message in
            let events = timeline.apply(
                subject: message.subject, headers: message.headers, payload: message.payload, storedAt: message.time,
                sequence: message.sequence)
            count += events.count
            EventOutput.write(events, json: json)
        }
        if timeline.damaged > 0 {
            StandardError.write("reach-fleet: \(timeline.damaged) messages or lines could not be read\n")
        }
        if count == 0 {
            let whose = host.map { " of \($0)" } ?? ""
            throw FleetFailure(.found, "no event\(whose) arrived in the last \(DurationText.describe(since))")
        }
    }
}

/// Prints events.
enum EventOutput {
    static func write(_ events: [TimelineEvent], json: Bool) {
        guard !events.isEmpty else { return }
        if json {
            StandardOutput.writeJSON(events) { $0.timelineEvent($1) }
        } else {
            StandardOutput.write(lines: events.map(text).joined())
        }
    }

    static func text(_ event: TimelineEvent) -> String {
        let clock =
            event.isHostClock ? " (by its clock)" : event.hostTime.map { " (its clock: \(TimeText.describe($0)))" }
        let sentence = DisplayText.sanitized(event.event.sentence)
        return "\(TimeText.describeExactly(event.time))\(clock ?? "")  \(event.host)  \(sentence)\n"
    }
}
