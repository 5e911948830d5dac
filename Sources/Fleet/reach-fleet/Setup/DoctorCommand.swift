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
            Looks at the server's version, clock and settings, at the streams, at keys that two machines use, and tries \
            whether a stranger is let in. It changes nothing.

            Exit status: 0 nothing is wrong, 1 something is wrong or may become so.
            """)

    @Flag(help: "Print a JSON object for each finding, one a line.")
    var json = false

    @OptionGroup var engine: EngineOptions

    func run() throws {
        let link = try engine.connect()
        let findings = try Examination(link: link).findings()
        if json {
            StandardOutput.writeJSON(findings) { json, finding in
                json.object {
                    $0.field("v", 1)
                    $0.field("type", "fleet-finding")
                    $0.field("level", finding.level.rawValue)
                    $0.field("word", finding.word)
                    $0.field("sentence", finding.sentence)
                    $0.field("remedy", finding.remedy)
                }
            }
        } else {
            let lines = findings.map { finding in
                "\(finding.level.rawValue): \(finding.sentence)\n" + (finding.remedy.map { "  \($0)\n" } ?? "")
            }
            StandardOutput.write(lines.isEmpty ? "nothing is wrong\n" : lines.joined())
        }
        if findings.contains(where: { $0.level != .note }) { throw FleetFailure(.found) }
    }
}

/// Reads what the doctor judges.
private struct Examination {
    /// How far back connections are looked at.
    private static let connectionAge: Duration = .seconds(86_400)

    let link: NATSLink

    func findings() throws(NATSError) -> [Finding] {
        let jetStream = JetStream(link)
        let account = try jetStream.account()
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
        let missing = try streams(jetStream, version ?? ServerVersion.advised, &findings)
        if missing.isEmpty { findings += try hosts(jetStream) }
        return findings
    }

    private func streams(
        _ jetStream: JetStream, _ version: ServerVersion, _ findings: inout [Finding]
    ) throws(NATSError) -> [String] {
        var missing: [String] = []
        for plan in FleetPlan(version: version).streams {
            let info = try jetStream.stream(plan.name)
            if info == nil { missing.append(plan.name) }
            let adopted = info.map { plan.adoptingSize(of: $0["config"] ?? .null) } ?? plan
            findings += FleetDoctor.stream(adopted, info)
        }
        return missing
    }

    private func hosts(_ jetStream: JetStream) throws(NATSError) -> [Finding] {
        let view = try FleetView.read(link)
        var advisories: [ConnectionAdvisory] = []
        let start = view.engine.now + (.zero - Self.connectionAge)
        try jetStream.read(FleetNames.connections, filter: "reach.v1.conn.>", from: .time(start)) { message in
            if let advisory = try? ConnectionAdvisory(message.payload) { advisories.append(advisory) }
        }
        let names = Dictionary(
            view.roster.hosts.compactMap { host in host.key.map { ($0, host.id) } },
            uniquingKeysWith: { first, _ in first })
        return FleetDoctor.hosts(view.roster) + FleetDoctor.hostClocks(view.roster.hosts)
            + FleetDoctor.doubles(advisories, names: names) + FleetDoctor.loudHosts(try counts(jetStream))
    }

    /// Messages of each host in the events' stream; empty if the server does not count them for this user.
    private func counts(_ jetStream: JetStream) throws(NATSError) -> [String: Int64] {
        var request = JSONWriter()
        request.object { $0.field("subjects_filter", FleetNames.eventSubject(of: "*")) }
        let info = try jetStream.call("STREAM.INFO.\(FleetNames.events)", request.bytes)
        return (info["state"]?["subjects"]?.object ?? [:]).compactMapValues(\.integer)
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
