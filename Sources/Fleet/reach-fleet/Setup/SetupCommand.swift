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
            Makes what is missing and changes nothing that is there. It says what differs; --update makes that stricter, \
            but never looser. Run twice, it does nothing the second time. With --hosts it also stores the list of hosts, \
            so that readers know who has never connected.

            Exit status: 0 all is as it should be, 1 something differs.
            """)

    @Option(
        name: .customLong("hosts"),
        help: ArgumentHelp("The list of hosts, a line each: HOST KEY [GROUP ...].", valueName: "file"))
    var hostsFile: String?

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
        let link = try engine.connect()
        let jetStream = JetStream(link)
        _ = try jetStream.account()
        var plan = FleetPlan(version: try ServerProbe.version(link))
        plan.storeBytes = try ServerStatus.ask(link, within: .seconds(2))?.storeBytes
        plan.replicas = replicas
        plan.eventAge = eventAge
        plan.eventBytes = eventBytes
        var isDifferent = false
        for stream in plan.streams {
            let outcome = try StreamSetup(jetStream: jetStream, updates: update).run(stream)
            isDifferent = isDifferent || outcome.isDifferent
            show(outcome)
        }
        if let hosts { try store(hosts, jetStream) }
        if isDifferent { throw FleetFailure(.found) }
    }

    private func show(_ outcome: StreamSetup.Outcome) {
        if json {
            StandardOutput.writeJSON { outcome.write(to: &$0) }
        } else {
            StandardOutput.write(outcome.text)
        }
    }

    /// Writes the hosts whose entries differ, and deletes those that are no longer listed.
    private func store(_ hosts: HostList, _ jetStream: JetStream) throws(NATSError) {
        var stored: [String: [UInt8]] = [:]
        try jetStream.entries(of: HostList.bucket) { stored[$0.key] = $0.value }
        var changed = 0
        for entry in hosts.entries {
            let value = HostList.value(entry)
            guard stored.removeValue(forKey: entry.host) != value else { continue }
            try jetStream.put(entry.host, in: HostList.bucket, value)
            changed += 1
        }
        for host in stored.keys.sorted() {
            try jetStream.delete(host, in: HostList.bucket)
            changed += 1
        }
        guard !json else {
            return StandardOutput.writeJSON {
                $0.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-hosts")
                    $0.field("hosts", Int64(hosts.entries.count))
                    $0.field("changed", Int64(changed))
                }
            }
        }
        let word = changed == 0 ? "as listed" : "\(changed) changed"
        StandardOutput.write("hosts: \(hosts.entries.count) listed, \(word)\n")
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
