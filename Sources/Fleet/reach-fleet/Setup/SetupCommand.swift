internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachTerminal

struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup",
        abstract: "Make the fleet's streams and buckets.",
        discussion: """
            Makes what is missing and changes nothing that is there. It says what differs; --update makes that \
            stricter, but never looser. Run twice, it does nothing the second time. With --hosts it also stores the \
            list of hosts, so that readers know who has never connected; a host that the list has no more is retired.

            Exit status: 0 all is as it should be, 1 something differs.

            Example: reach fleet setup --hosts hosts.txt
            """)

    @Option(
        name: .customLong("hosts"),
        help: ArgumentHelp(
            "The list of hosts, a line each: HOST KEY[,KEY] [GROUP ...] [LABEL=VALUE ...].", valueName: "file"))
    var hostsFile: String?

    @Option(
        name: .customLong("operators"),
        help: ArgumentHelp(
            "The list of operators, a line each: NAME KEY[,KEY] [GROUP ...], for `audit`.", valueName: "file"))
    var operatorsFile: String?

    @Option(help: "Copies of each stream in a cluster: 1, or 3 to survive a server.")
    var replicas = 1

    @Option(
        name: .customLong("event-age"), help: ArgumentHelp("How long events stay.", valueName: "duration"),
        transform: { try FleetArgument.duration($0) })
    var eventAge: Duration = .seconds(30 * 86_400)

    @Option(name: .customLong("event-bytes"), help: ArgumentHelp("The most bytes of events.", valueName: "bytes"))
    var eventBytes: Int64?

    @Flag(help: "Make what is there as strict as it should be.")
    var update = false

    @Flag(help: "Print a JSON object for each stream, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func validate() throws {
        guard replicas == 1 || replicas == 3 || replicas == 5 else { throw ValidationError("--replicas is 1, 3 or 5") }
        if let eventBytes, eventBytes < 1 << 20 { throw ValidationError("--event-bytes is at least 1048576") }
    }

    func run() throws {
        let hosts = try hostsFile.map(FleetArgument.hosts)
        let operators = try operatorsFile.map(FleetArgument.hosts)
        let session = try OperatorSession(engine)
        let (link, jetStream) = (session.link, session.jetStream)
        _ = try jetStream.account()
        var plan = FleetPlan(version: try ServerProbe.version(link))
        plan.storeBytes = try ServerStatus.ask(link, within: .seconds(2))?.storeBytes
        plan.replicas = replicas
        plan.eventAge = eventAge
        plan.eventBytes = eventBytes
        var isDifferent = false
        var configurations: [String: JSONValue] = [:]
        for stream in plan.streams {
            let outcome = try StreamSetup(jetStream: jetStream, updates: update).run(stream)
            isDifferent = isDifferent || outcome.isDifferent
            configurations[stream.name] = outcome.configuration
            show(outcome)
        }
        show(StoreRoom(bytes: plan.storeBytes, streams: configurations))
        if let operators { try store(operators: operators, session) }
        if let hosts { try store(hosts, session) }
        if isDifferent { throw FleetFailure(.found) }
    }

    private func show(_ outcome: StreamSetup.Outcome) {
        if json {
            StandardOutput.writeJSON { outcome.write(to: &$0) }
        } else {
            StandardOutput.write(lines: outcome.text)
        }
    }

    /// What the store holds, and what is wrong with that, as `doctor` says it.
    private func show(_ room: StoreRoom) {
        let findings = FleetDoctor.store(room)
        guard !json else { return StandardOutput.writeJSON(findings) { $1.write(to: &$0) } }
        StandardOutput.write(lines: "store: \(room.summary)\n" + findings.map(\.text).joined())
    }

    /// Writes the hosts whose entries differ. Those that are no longer listed are retired, and those that are listed
    /// again are not.
    private func store(_ hosts: HostList, _ session: OperatorSession) throws {
        let jetStream = session.jetStream
        var stored: [String: [UInt8]] = [:]
        try jetStream.entries(of: HostList.bucket) { stored[$0.key] = $0.value }
        let retired = try retiredHosts(jetStream)
        let listed = Set(hosts.entries.map(\.host))
        // What is in a file would take away that a token was used.
        if let host = stored.filter({ HostList.entry($0.key, $0.value)?.ticket != nil }).keys.min() {
            throw FleetFailure(
                .found,
                "'\(host)' enrolled itself, so the list of hosts is kept by `reach-fleet enroll`, `retire` and "
                    + "`revoke`, not by a file"
            )
        }
        if let host = listed.intersection(retired.filter { stored[$0.key] != nil }.keys).min() {
            throw FleetFailure(
                .found,
                "'\(host)' is retired: take its line from the list, or show it again with `reach-fleet retire --undo "
                    + "\(host)`"
            )
        }
        var changed = 0
        for entry in hosts.entries {
            let value = HostList.value(entry)
            if stored.removeValue(forKey: entry.host) != value {
                try jetStream.put(entry.host, in: HostList.bucket, value)
                changed += 1
            }
            // It was taken from the list, and is back.
            guard var note = retired[entry.host] else { continue }
            note.retired = nil
            try session.write(note, of: entry.host)
        }
        let now = try session.present()
        for host in stored.keys.sorted() {
            if retired[host] == nil {
                var note = try session.hostNote(host)
                note.retired = now
                try session.write(note, of: host)
            }
            try jetStream.delete(host, in: HostList.bucket)
            changed += 1
        }
        if changed > 0 { session.record(OperatorAction(.setup, on: "\(hosts.entries.count) hosts")) }
        show(hosts.entries.count, changed: changed, retired: stored.count)
    }

    private func retiredHosts(_ jetStream: JetStream) throws(NATSError) -> [String: HostNote] {
        var retired: [String: HostNote] = [:]
        try jetStream.entries(of: FleetNames.notes, filter: "host.*") { entry in
            guard let note = entry.value.flatMap({ try? HostNote($0) }), note.retired != nil,
                let host = entry.key.after("host.")
            else { return }
            retired[String(host)] = note
        }
        return retired
    }

    /// Writes the names of the operators' keys.
    private func store(operators: HostList, _ session: OperatorSession) throws(NATSError) {
        var stored: [String: [UInt8]] = [:]
        try session.jetStream.entries(of: FleetNames.notes, filter: "key.*") { stored[$0.key] = $0.value }
        for entry in operators.entries {
            let value = OperatorName(name: entry.host, groups: entry.groups).bytes
            for key in entry.keys.map(OperatorName.noteKey) where stored.removeValue(forKey: key) != value {
                try session.note(key, value)
            }
        }
        // A key that is no longer an operator's keeps its name, for what it did.
        session.record(OperatorAction(.setup, on: "\(operators.entries.count) operators"))
        guard !json else { return }
        StandardOutput.write(lines: "operators: \(operators.entries.count) listed\n")
    }

    private func show(_ hosts: Int, changed: Int, retired: Int) {
        guard !json else {
            return StandardOutput.writeJSON {
                $0.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-hosts")
                    $0.field("hosts", Int64(hosts))
                    $0.field("changed", Int64(changed))
                    $0.field("retired", Int64(retired))
                }
            }
        }
        let words =
            (changed == 0 ? "as listed" : "\(changed) changed") + (retired > 0 ? ", \(retired) of them retired" : "")
        StandardOutput.write(lines: "hosts: \(hosts) listed, \(words)\n")
    }
}

/// Finds out what the commands need to know about the server.
enum ServerProbe {
    /// The server's version: from its status where readers may ask, else from its greeting.
    static func version(_ link: NATSLink) throws(NATSError) -> ServerVersion {
        if let version = try ServerStatus.ask(link, within: .seconds(2))?.version { return version }
        for server in link.settings.servers {
            if let version = ServerGreeting.read(server)?.version { return version }
        }
        throw NATSError(.failed, "the server does not say its version")
    }
}
