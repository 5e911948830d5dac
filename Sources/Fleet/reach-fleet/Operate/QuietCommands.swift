internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct QuietCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quiet",
        abstract: "Have no alerts about some hosts for a time, as while they are worked on.",
        discussion: """
            `watch --alerts` says nothing about these hosts in that time, and `report` does not count their absence. \
            Who is still away at its end is reported then. Without --where the times without alerts are listed.

            Exit status: 0 written or listed, 3 no such time.

            Example: reach fleet quiet --where city=oslo --for 2h
            """)

    @Option(
        name: .customLong("where"),
        help: ArgumentHelp("The hosts, as for status; host=* for all.", valueName: "query"))
    var query: String?

    @Option(
        name: .customLong("for"), help: ArgumentHelp("How long.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var length: Duration?

    @Option(
        help: ArgumentHelp(
            "A time of day at which it comes again, for a year or as long as --for says.", valueName: "days time zone"))
    var every: String?

    @Option(
        help: ArgumentHelp("When it begins: in this long; now by default.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var after: Duration?

    @Option(help: "Why, for people.")
    var why: String?

    @Option(help: ArgumentHelp("End the time of this name now.", valueName: "name"))
    var end: String?

    @Flag(help: "Print a JSON object for each time, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard (query == nil) == (length == nil && every == nil) else {
            throw ValidationError("--where and --for belong together, or --where and --every")
        }
        guard query == nil || end == nil else { throw ValidationError("--end stands alone") }
        if let query { _ = try FleetArgument.query(query) }
        let longest = every == nil ? QuietTime.longest : QuietTime.longestDaily
        if let length, length > longest {
            throw ValidationError("--for is at most \(DurationText.describe(longest))")
        }
        if let every {
            guard let daily = DailyTime(every) else {
                throw ValidationError(
                    "'\(every)' is no time such as 'day 02:00-04:00 Europe/Berlin' or 'sat,sun 22:00-06:00 UTC'")
            }
            guard ZoneClocks.isKnown(daily.zone) else {
                throw ValidationError(
                    "this machine's tzdata has no time zone '\(daily.zone)'; one is Europe/Berlin or UTC")
            }
        }
        if let why, why.utf8.count > 256 { throw ValidationError("--why has at most 256 bytes") }
    }

    func run() throws {
        let delay = after ?? .zero
        let span = delay + (length ?? QuietTime.longestDaily)
        var daily = every.flatMap { DailyTime($0) }
        if let zone = daily?.zone {
            let now = SystemClock.now.wall
            daily?.offsets = ZoneClocks.offsets(of: zone, from: now + delay, to: now + span)
        }
        let session = try OperatorSession(engine)
        let now = try session.present()
        if let end { return try finish(end, session, now) }
        guard let query else { return try list(session, now) }
        let groups = try session.groups()
        for group in groups.isEmpty ? [nil] : groups.map(Optional.some) {
            let time = QuietTime(
                id: String(SubjectToken.random().prefix(6)), group: group, query: try FleetArgument.query(query),
                from: now + delay, until: now + span, daily: daily, why: why, author: session.author)
            let revision = try session.note(time.key, time.bytes)
            let text = [daily.map { "every \($0.description)" }, why].compactMap(\.self).joined(separator: ": ")
            session.record(OperatorAction(.quiet, on: query, text: text.isEmpty ? nil : text, revision: revision))
            show([time], now)
        }
        try forget(session, now)
        try warn(session, try FleetArgument.query(query))
    }

    /// Where somebody mistyped a name, alerts are not quiet about what is meant.
    private func warn(_ session: OperatorSession, _ query: HostQuery) throws(NATSError) {
        let view = try FleetView.read(session.link)
        guard !view.roster.hosts.contains(where: { query.includes($0, $0.presence(view.engine)) }) else { return }
        let why = query.hint(among: view.roster.hosts).map { ": \($0)" } ?? ""
        StandardError.write("reach-fleet: that is no host now\(why)\n")
    }

    private func times(_ session: OperatorSession) throws -> [QuietTime] {
        var notes = OperatorNotes()
        try session.jetStream.entries(of: FleetNames.notes, filter: "quiet.>") { entry in
            _ = notes.apply(key: entry.key, entry.value, storedAt: entry.time)
        }
        return notes.quiet
    }

    private func list(_ session: OperatorSession, _ now: Timestamp) throws {
        let times = try times(session).filter { $0.until > now }
        if times.isEmpty, !json { StandardOutput.write(lines: "alerts are quiet about no host\n") }
        show(times, now)
    }

    private func finish(_ id: String, _ session: OperatorSession, _ now: Timestamp) throws {
        let found = try times(session).filter { $0.id == id && $0.until > now }
        guard !found.isEmpty else { throw FleetFailure(.unknown, "no time without alerts is called '\(id)'") }
        for var time in found {
            // What has been stays for reports; what has not begun goes.
            time.until = now
            let revision = try session.note(time.key, time.from >= now ? nil : time.bytes)
            session.record(OperatorAction(.quiet, on: time.query.description, text: "ended", revision: revision))
            show([time], now)
        }
    }

    /// Deletes what no report asks for any more.
    private func forget(_ session: OperatorSession, _ now: Timestamp) throws {
        for time in try times(session) where time.until + QuietTime.kept < now {
            do throws(NATSError) {
                try session.note(time.key, nil)
            } catch {
                // Of another group.
                guard error.kind == .notPermitted else { throw error }
            }
        }
    }

    private func show(_ times: [QuietTime], _ now: Timestamp) {
        guard !json else {
            return StandardOutput.writeJSON(times) { json, time in
                json.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-quiet")
                    $0.field("quiet", time.id)
                    $0.field("where", time.query.description)
                    $0.field("from", time.from)
                    $0.field("until", time.until)
                    $0.field("every", time.daily?.description)
                    $0.field("why", time.why)
                    $0.field("by", time.author)
                    $0.field("active", time.isActive(at: now))
                }
            }
        }
        for time in times {
            var words = "\(time.id): \(time.query.description)"
            if let group = time.group { words += " of group \(group)" }
            if let daily = time.daily { words += ", every \(daily.description)" }
            words += ", from \(TimeText.describe(time.from)) until \(TimeText.describe(time.until))"
            if let why = time.why { words += ": \(why)" }
            if let author = time.author { words += ", by \(author)" }
            StandardOutput.write(lines: DisplayText.sanitized(words) + "\n")
        }
    }
}

struct AcknowledgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "acknowledge",
        abstract: "Say that somebody knows of an alert, so that it is not repeated.",
        discussion: """
            ALERT is the name in brackets at an alert's end. The message that it is over still comes.

            Exit status: 0 written, 3 no such host.

            Example: reach fleet acknowledge 7f3a --why "the provider knows"
            """)

    @Option(help: "Why, or who looks after it.")
    var why: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("For how long; by default until it is over.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var length: Duration?

    @Flag(help: "Print a JSON object.")
    var json = false

    @Argument(help: "The alert's name.")
    var alert: String

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard !alert.isEmpty, alert.utf8.count <= 256, (why ?? "").utf8.count <= 256 else {
            throw ValidationError("an alert's name has 1 to 256 bytes, and --why at most 256")
        }
    }

    func run() throws {
        let session = try OperatorSession(engine)
        // An alert about one host has the host's name; others have what the hosts share, or a word of the watch.
        if !alert.utf8.contains(UInt8(ascii: "=")),
            !["fleet", AlertMachine.several, AlertMachine.start].contains(alert)
        {
            try session.check([alert])
        }
        let now = try session.present()
        let note = Acknowledgement(
            alert: alert, author: session.author, why: why, until: length.map { now + $0 }, stored: now)
        let id = Acknowledgement.id(of: alert)
        let groups = try session.groups()
        for place in groups.isEmpty ? ["ack.all"] : groups.map({ "ack.group.\($0)" }) {
            let revision = try session.note("\(place).\(id)", note.bytes)
            session.record(OperatorAction(.acknowledge, on: alert, text: why, revision: revision))
        }
        guard !json else {
            return StandardOutput.writeJSON {
                $0.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-acknowledgement")
                    $0.field("alert", alert)
                    $0.field("by", note.author)
                    $0.field("why", why)
                    $0.field("until", note.until?.description)
                }
            }
        }
        let until = note.until.map { "until \(TimeText.describe($0))" } ?? "until it is over"
        StandardOutput.write(lines: DisplayText.sanitized("\(alert): acknowledged \(until)") + "\n")
    }
}
