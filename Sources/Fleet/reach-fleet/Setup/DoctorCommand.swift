internal import ArgumentParser
internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink
internal import ReachLoop
internal import ReachTerminal

struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find what is wrong with the fleet and its servers.",
        discussion: """
            Looks at the server's version, clock and settings, at the streams, at keys that two machines use, and \
            tries whether a stranger is let in. It changes nothing.

            Exit status: 0 nothing is wrong, 1 something is wrong or may become so.

            Example: reach fleet doctor --server tls://nats.example.org
            """)

    @Flag(help: "Print a JSON object for each finding, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func run() throws {
        let link = try engine.connect()
        let findings = try Examination(link: link).findings()
        if json {
            StandardOutput.writeJSON(findings) { $1.write(to: &$0) }
        } else {
            let lines = findings.map(\.text)
            StandardOutput.write(lines: lines.isEmpty ? "nothing is wrong\n" : lines.joined())
        }
        if findings.contains(where: { $0.level != .note }) { throw FleetFailure(.found) }
    }
}

extension Finding {
    /// For people: what is so, and what to do about it.
    var text: String { "\(level.rawValue): \(sentence)\n" + (remedy.map { "  \($0)\n" } ?? "") }

    func write(to json: inout JSONWriter) {
        json.object {
            $0.field("v", 1)
            $0.field("type", "fleet-finding")
            $0.field("level", level.rawValue)
            $0.field("word", word)
            $0.field("sentence", sentence)
            $0.field("remedy", remedy)
        }
    }
}

/// Reads what the doctor judges.
private struct Examination {
    /// How far back connections are looked at.
    private static let connectionAge: Duration = .seconds(86_400)
    /// How many of the newest events say who writes most.
    private static let newestEvents = StreamEndLimit(bytes: 16 << 20, messages: 4000)

    let link: NATSLink

    func findings() throws(NATSError) -> [Finding] {
        let jetStream = JetStream(link)
        guard let account = try account(jetStream) else { return FleetDoctor.silence }
        let status = try ServerStatus.ask(link, within: .seconds(2))
        let version =
            status?.version ?? link.settings.servers.lazy.compactMap { ServerGreeting.read($0)?.version }.first
        var findings = FleetDoctor.version(version)
        if status == nil {
            findings.append(
                Finding(
                    .note, "server-silent", "the server does not say how it is set up, nor what time it has",
                    remedy: "start it with what `reach-fleet config` prints"))
        }
        findings += FleetDoctor.sync(version, syncsAlways: status?.syncsAlways, interval: status?.syncInterval)
        findings += FleetDoctor.clock(status?.clockOffset)
        findings += rights()
        findings += FleetDoctor.account(account)
        var plan = FleetPlan(version: version ?? ServerVersion.advised)
        plan.storeBytes = status?.storeBytes
        let missing = try streams(jetStream, plan, &findings)
        if missing.isEmpty { findings += try hosts(jetStream) }
        return findings
    }

    /// - Returns: `nil` if the server answers nothing about streams.
    private func account(_ jetStream: JetStream) throws(NATSError) -> JSONValue? {
        do throws(NATSError) {
            return try jetStream.account()
        } catch {
            guard error.kind == .timedOut else { throw error }
            return nil
        }
    }

    private func streams(
        _ jetStream: JetStream, _ fleet: FleetPlan, _ findings: inout [Finding]
    ) throws(NATSError) -> [String] {
        var missing: [String] = []
        var configurations: [String: JSONValue] = [:]
        var fleet = fleet
        // In a cluster leases are kept in memory.
        let events = try jetStream.stream(FleetNames.events)?["config"]?["num_replicas"]?.integer
        fleet.replicas = events.map { Int(clamping: $0) } ?? 1
        for plan in fleet.streams {
            let info = try jetStream.stream(plan.name)
            if info == nil { missing.append(plan.name) }
            configurations[plan.name] = info?["config"]
            let adopted = info.map { plan.adoptingSize(of: $0["config"] ?? .null) } ?? plan
            findings += FleetDoctor.stream(adopted, info)
        }
        if configurations[FleetNames.events] != nil || fleet.storeBytes != nil {
            findings += FleetDoctor.store(StoreRoom(bytes: fleet.storeBytes, streams: configurations))
        }
        return missing
    }

    private func hosts(_ jetStream: JetStream) throws(NATSError) -> [Finding] {
        let view = try FleetView.read(link)
        var advisories: [ConnectionAdvisory] = []
        let start = view.engine.now + (.zero - Self.connectionAge)
        try jetStream.read(FleetNames.connections, filter: nil, from: .time(start)) { message in
            if let advisory = try? ConnectionAdvisory(message.payload) { advisories.append(advisory) }
        }
        let names = Dictionary(
            view.roster.hosts.compactMap { host in host.key.map { ($0, host.id) } },
            uniquingKeysWith: { first, _ in first })
        let accounts = FleetDoctor.accounts(advisories, names: names, answerArrived: try answerArrives(jetStream))
        return accounts + FleetDoctor.hosts(view.roster) + FleetDoctor.retired(view.roster.retired)
            + FleetDoctor.conflicts(view.roster.hosts) + FleetDoctor.hostClocks(view.roster.hosts)
            + FleetDoctor.tokens(view.roster.hosts, now: view.engine.now)
            + FleetDoctor.doubles(advisories, names: names) + FleetDoctor.loudHosts(try counts(jetStream))
            + (try room(jetStream, view))
    }

    /// Who fills the stream of events, and whether it still stores.
    private func room(_ jetStream: JetStream, _ view: FleetView) throws(NATSError) -> [Finding] {
        guard let events = try jetStream.stream(FleetNames.events) else { return [] }
        var sizes: [String: Int] = [:]
        if FleetDoctor.isNearlyFull(events) {
            _ = try jetStream.readEnd(
                of: FleetNames.events, filter: nil, since: Timestamp(nanosecondsSince1970: 0), Self.newestEvents
            ) { message in sizes[message.subject, default: 0] += message.payload.count }
        }
        let last = events["state"]?["last_ts"]?.string.flatMap { Timestamp($0) }
        return FleetDoctor.shares(sizes, hosts: view.roster.hosts.count)
            + FleetDoctor.storing(view.roster.hosts, lastEvent: last, now: view.engine.now)
    }

    /// Messages of each host in the events' stream; empty if the server does not count them for this user.
    private func counts(_ jetStream: JetStream) throws(NATSError) -> [String: Int64] {
        var request = JSONWriter()
        request.object { $0.field("subjects_filter", FleetNames.eventSubject(of: "*")) }
        let info = try jetStream.call("STREAM.INFO.\(FleetNames.events)", request.bytes)
        return (info["state"]?["subjects"]?.object ?? [:]).compactMapValues(\.integer)
    }

    /// Tries what a reader must not be able to do: to write, by an answer of the server. It aims at the stream of
    /// connections, whose readers skip what the server did not report.
    private func answerArrives(_ jetStream: JetStream) throws(NATSError) -> Bool {
        // An administrator may write everything, and is in the account of the streams.
        guard try !isAdministrator(jetStream) else { return false }
        let target = FleetNames.probeSubject
        let before = try jetStream.last(target, in: FleetNames.connections)?.sequence
        try link.publish("$JS.API.STREAM.INFO.\(FleetNames.connections)", reply: target, [])
        // The server answers in order.
        _ = try jetStream.stream(FleetNames.connections)
        return try jetStream.last(target, in: FleetNames.connections)?.sequence != before
    }

    private func isAdministrator(_ jetStream: JetStream) throws(NATSError) -> Bool {
        do throws(NATSError) {
            _ = try jetStream.call("STREAM.NAMES")
            return true
        } catch {
            guard error.kind == .notPermitted else { throw error }
            return false
        }
    }

    /// Whether somebody without a key, or with one that no one listed, is let in.
    private func rights() -> [Finding] {
        var strangers: [NATSIdentity] = [.none]
        if let key = try? NKeyPair.generate() { strangers.append(.key(key)) }
        let servers = link.settings.servers
        return FleetDoctor.rights(
            strangerConnects: strangers.contains(where: connects), isEncrypted: servers.allSatisfy(\.isEncrypted),
            isLocal: servers.allSatisfy { $0.isEncrypted || $0.isLoopback })
    }

    private func connects(_ stranger: NATSIdentity) -> Bool {
        var settings = link.settings
        settings.reconnection = .never
        settings.identity = stranger
        do throws(NATSError) {
            try NATSLink.connect(settings).close()
            return true
        } catch {
            return false
        }
    }
}
