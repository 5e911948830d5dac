internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Print what operators did: who held, released, retired, labelled or quieted what, and when.",
        discussion: """
            The server lets each key record under its own name only. What is wanted of hosts and was not recorded is \
            listed, too, as done without a record.

            Exit status: 0 printed, 1 there is nothing.

            Example: reach fleet audit --since 7d
            """)

    @Option(
        help: ArgumentHelp("How far back to begin.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var since: Duration = .seconds(30 * 86_400)

    @Flag(help: "Print a JSON object for each action, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func run() throws {
        let link = try engine.connect()
        let jetStream = JetStream(link)
        let start = try ServerStatus.present(link) + (.zero - since)
        let entries = try AuditTrail(jetStream, since: start).entries
        if json {
            StandardOutput.writeJSON(entries) { $0.auditEntry($1) }
        } else {
            StandardOutput.write(
                lines: entries.map { "\(TimeText.describe($0.time))  \(DisplayText.sanitized($0.sentence))\n" }.joined()
            )
        }
        if entries.isEmpty {
            throw FleetFailure(.found, "nothing was done in the last \(DurationText.describe(since))")
        }
    }
}

/// What was recorded, and what was written without a record.
struct AuditTrail {
    private(set) var entries: [AuditEntry] = []

    init(_ jetStream: JetStream, since start: Timestamp) throws(NATSError) {
        guard try jetStream.stream(FleetNames.audit) != nil else {
            throw NATSError(.notFound, "there is no stream \(FleetNames.audit); `reach-fleet setup` makes it")
        }
        var notes = OperatorNotes()
        try jetStream.entries(of: FleetNames.notes, filter: "key.*") { entry in
            _ = notes.apply(key: entry.key, entry.value, storedAt: entry.time)
        }
        var recorded: Set<UInt64> = []
        var found: [AuditEntry] = []
        try jetStream.read(FleetNames.audit, filter: FleetNames.auditSubject(ofKey: "*"), from: .time(start)) {
            message in
            guard let key = message.subject.after(FleetNames.auditSubject(ofKey: "")).map(String.init),
                let action = try? OperatorAction(message.payload)
            else { return }
            if action.kind == .hold || action.kind == .release, let revision = action.revision {
                recorded.insert(revision)
            }
            found.append(
                AuditEntry(time: message.time, key: key, name: notes.name(ofKey: key)?.name, action: action))
        }
        let bucket = FleetNames.stream(of: FleetNames.desired)
        try jetStream.read(
            bucket, filter: FleetNames.subject(ofKey: ">", in: FleetNames.desired), from: .time(start)
        ) { message in
            guard !recorded.contains(message.sequence),
                let entry = KeyValueEntry(message, bucket: FleetNames.desired), let value = entry.value,
                let document = try? DesiredState(value)
            else { return }
            let action = OperatorAction(
                document.queue == .held ? .hold : .release, on: Self.subject(ofKey: entry.key),
                text: document.reason, user: document.author, revision: entry.revision)
            found.append(AuditEntry(time: message.time, key: nil, name: nil, action: action))
        }
        entries = found.sorted { $0.time < $1.time }
    }

    /// `all hosts`, `group tills`, `host till-1`.
    static func subject(ofKey key: String) -> String {
        guard key != "all" else { return "all hosts" }
        return key.split(scalar: ".", maxSplits: 1).joined(separator: " ")
    }
}

extension JSONWriter {
    fileprivate mutating func auditEntry(_ entry: AuditEntry) {
        object {
            $0.field("v", 1)
            $0.field("type", "fleet-action")
            $0.field("time", entry.time)
            $0.field("key", entry.key)
            $0.field("name", entry.name)
            $0.field("user", entry.action.user)
            $0.field("action", entry.action.kind.rawValue)
            $0.field("on", entry.action.subject)
            $0.field("text", entry.action.text)
            $0.field("revision", entry.action.revision.map { Int64(clamping: $0) })
            $0.field("recorded", entry.key != nil)
        }
    }
}
