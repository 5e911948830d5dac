package import ReachCore

/// Something that is wrong with the fleet or its engine, or may become so.
package struct Finding: Hashable, Sendable {
    package enum Level: String, CaseIterable, Hashable, Sendable {
        /// It does not work, or loses something.
        case wrong
        /// It works, and may not when it matters.
        case warning
        /// Good to know.
        case note
    }

    package let level: Level
    /// A stable word for programs.
    package let word: String
    /// What is so, in words for people.
    package let sentence: String
    /// What to do about it.
    package let remedy: String?

    package init(_ level: Level, _ word: String, _ sentence: String, remedy: String? = nil) {
        self.level = level
        self.word = word
        self.sentence = sentence
        self.remedy = remedy
    }
}

/// Judges what a doctor has read. Each function is one question.
package enum FleetDoctor {
    /// Clocks that differ by more confuse people who compare logs.
    package static let clockTolerance: Duration = .seconds(2)
    /// A stream that is fuller than this, in parts of a hundred, is nearly full.
    static let nearlyFull = 80
    /// The most hosts that a finding names.
    static let named = 5

    package static func version(_ version: ServerVersion?) -> [Finding] {
        guard let version else {
            return [Finding(.note, "version-unknown", "the server does not say its version")]
        }
        if version < ServerVersion.floor {
            return [
                Finding(
                    .wrong, "version",
                    "nats-server \(version) is older than \(ServerVersion.floor), the oldest that works",
                    remedy: "install \(ServerVersion.advised) or newer")
            ]
        }
        guard version < ServerVersion.advised else { return [] }
        return [
            Finding(
                .warning, "version", "nats-server \(version) has known faults, among them CVE-2026-33222",
                remedy: "install \(ServerVersion.advised) or newer")
        ]
    }

    /// - Parameters:
    ///   - syncsAlways: Whether each message is on the disk before its acknowledgement; `nil` if the server does not
    ///     say.
    package static func sync(_ version: ServerVersion?, syncsAlways: Bool?, interval: Duration?) -> [Finding] {
        if let version, !version.hasCompression {
            return [
                Finding(
                    .warning, "sync-interval",
                    "nats-server \(version) writes to the disk every 2 min: a loss of power "
                        + "loses what it acknowledged since",
                    remedy: "install 2.10 or newer and set sync_interval: always")
            ]
        }
        guard syncsAlways == false else { return [] }
        let time = interval.map { "every \(DurationText.describe($0))" } ?? "from time to time"
        return [
            Finding(
                .warning, "sync-interval",
                "the server writes to the disk \(time): a loss of power loses what it acknowledged since",
                remedy: "set sync_interval: always in its jetstream block")
        ]
    }

    /// - Parameter offset: The engine's clock minus this machine's.
    package static func clock(_ offset: Duration?) -> [Finding] {
        guard let offset else { return [] }
        let size = offset < .zero ? .zero - offset : offset
        guard size > clockTolerance else { return [] }
        return [
            Finding(
                .warning, "clock",
                "the engine's clock is \(DurationText.describe(size)) \(offset < .zero ? "behind" : "ahead of") this machine's",
                remedy: "synchronize both by NTP")
        ]
    }

    package static func conflicts(_ hosts: [RosterHost]) -> [Finding] {
        let shared = hosts.filter { $0.report?.hasConflict ?? false }
        guard !shared.isEmpty else { return [] }
        return [
            Finding(
                .warning, "conflict", "two machines use the identity of \(list(shared.map(\.id)))",
                remedy: "give the copy a key and a name of its own; until then one of them sends no events")
        ]
    }

    package static func hostClocks(_ hosts: [RosterHost]) -> [Finding] {
        let wrong = hosts.filter { $0.clockOffset.map { !RosterHost.isTolerable($0) } ?? false }
        guard !wrong.isEmpty else { return [] }
        return [
            Finding(
                .note, "host-clock", "the clocks of \(list(wrong.map(\.id))) differ from the engine's by more than 2 s",
                remedy: "their times are corrected; synchronize them by NTP, since certificates depend on the time")
        ]
    }

    package static func hosts(_ roster: Roster) -> [Finding] {
        guard roster.damaged > 0 else { return [] }
        let last = roster.lastDamage.map { "; the last: \($0)" } ?? ""
        return [Finding(.warning, "damaged", "\(roster.damaged) values in the buckets cannot be read\(last)")]
    }

    /// Retired hosts that still report: the server knows their keys.
    package static func retired(_ hosts: [RosterHost]) -> [Finding] {
        let reporting = hosts.filter { host in
            guard let retired = host.retired else { return false }
            return host.connection?.isUp == true || host.lease.map { $0.renewed > retired } ?? false
        }
        guard !reporting.isEmpty else { return [] }
        return [
            Finding(
                .warning, "retired",
                "\(list(reporting.map(\.id))) \(reporting.count == 1 ? "is" : "are") retired and still connected",
                remedy:
                    "take their lines from the list of hosts, print the configuration again with `reach-fleet config`, "
                    + "and reload the server; with tokens, `reach-fleet revoke`; "
                    + "or show them again with `reach-fleet retire --undo`")
        ]
    }

    /// A token that ends within this time should be renewed.
    static let renewalTime: Duration = .seconds(30 * 86_400)

    /// Hosts whose tokens end soon.
    package static func tokens(_ hosts: [RosterHost], now: Timestamp) -> [Finding] {
        let ending = hosts.filter { host in host.tokenEnd.map { now.duration(to: $0) < renewalTime } ?? false }
        guard !ending.isEmpty else { return [] }
        let ended = ending.filter { $0.tokenEnd.map { $0 <= now } ?? false }
        let named = ended.isEmpty ? ending : ended
        return [
            Finding(
                ended.isEmpty ? .warning : .wrong, "token",
                "the token\(named.count == 1 ? "" : "s") of \(list(named.map(\.id))) "
                    + (ended.isEmpty ? "\(named.count == 1 ? "ends" : "end") within 30 days" : "ended"),
                remedy: "run `reach-fleet join FILE` on the host while `reach-fleet enroll --serve` runs; "
                    + "a host whose token ended needs a new one from `reach-fleet enroll`")
        ]
    }

    /// A stream as it is; `nil` if there is none.
    package static func stream(_ plan: StreamPlan, _ info: JSONValue?) -> [Finding] {
        guard let info, let configuration = info["config"] else {
            return [
                Finding(
                    .wrong, "missing", "\(plan.name) (\(plan.purpose)) is missing",
                    remedy:
                        "run `reach-fleet setup`; if it was there before, the server's log says why it was not restored"
                )
            ]
        }
        let different = plan.differences(from: configuration).filter { $0.effect != .loosens }
        var findings = room(plan.name, configuration, info["state"] ?? .null)
        if !different.isEmpty {
            findings.append(
                Finding(
                    .warning, "differs",
                    "\(plan.name): \(different.map(\.key).joined(separator: ", ")) differ from the plan",
                    remedy: "`reach-fleet setup` says how, `reach-fleet setup --update` sets them"))
        }
        return findings
    }

    private static func room(_ name: String, _ configuration: JSONValue, _ state: JSONValue) -> [Finding] {
        guard let most = configuration["max_bytes"]?.integer, most > 0, let bytes = state["bytes"]?.integer else {
            return []
        }
        let part = Int(bytes / max(1, most / 100))
        guard part >= nearlyFull else { return [] }
        guard configuration["discard"]?.string == "new" else {
            return [
                Finding(
                    .note, "full", "\(name) is full to \(part) %: its oldest messages go",
                    remedy: "give it more room if you want them for longer")
            ]
        }
        return [
            Finding(
                part >= 95 ? .wrong : .warning, "full",
                "\(name) is full to \(part) % and refuses messages when it is full",
                remedy: "give it more room")
        ]
    }

    /// - Parameter account: JetStream's account information.
    package static func account(_ account: JSONValue) -> [Finding] {
        guard let most = account["limits"]?["max_storage"]?.integer, most > 0, let used = account["storage"]?.integer,
            used / max(1, most / 100) >= Int64(nearlyFull)
        else { return [] }
        return [
            Finding(
                .wrong, "storage",
                "the account's streams fill \(used / max(1, most / 100)) % of the storage it may use",
                remedy: "raise max_file, or shorten the streams")
        ]
    }

    /// Hosts that send so much that their own oldest events go.
    ///
    /// - Parameter counts: Messages of each subject of the events' stream.
    package static func loudHosts(_ counts: [String: Int64]) -> [Finding] {
        let prefix = FleetNames.eventSubject(of: "")
        let loud = counts.filter { $0.value >= FleetPlan.messagesOfHost * 8 / 10 && $0.key.hasUTF8Prefix(prefix) }
        guard !loud.isEmpty else { return [] }
        return [
            Finding(
                .warning, "loud",
                "\(list(loud.keys.compactMap { $0.after(prefix).map(String.init) })) sent so many events that "
                    + "their oldest go",
                remedy: "look at their events; they flap, or something else sends with their key")
        ]
    }

    /// The server lets this key in and answers no request about streams.
    package static let silence = [
        Finding(
            .wrong, "not-stored", "the server answers no request about its streams",
            remedy: "look at its disk and log, and restart it: after a full disk it answers again only then")
    ]

    /// Whether a stream is so full that its oldest messages go.
    ///
    /// - Parameter info: The stream as it is.
    package static func isNearlyFull(_ info: JSONValue) -> Bool {
        guard let most = info["config"]?["max_bytes"]?.integer, most > 0, let bytes = info["state"]?["bytes"]?.integer
        else { return false }
        return bytes / max(1, most / 100) >= Int64(nearlyFull)
    }

    /// Hosts that write so much of a full stream that the events of others go early.
    ///
    /// - Parameters:
    ///   - sizes: Bytes of the newest events, by subject.
    ///   - hosts: How many hosts there are.
    package static func shares(_ sizes: [String: Int], hosts: Int) -> [Finding] {
        let all = sizes.values.reduce(0, +)
        guard all > 0 else { return [] }
        // Four times what each has if all write alike, but of a small fleet nearly all.
        let most = min(90, max(25, 400 / max(1, hosts)))
        let prefix = FleetNames.eventSubject(of: "")
        return sizes.filter { $0.value / max(1, all / 100) >= most && $0.key.hasUTF8Prefix(prefix) }
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { subject, size in
                Finding(
                    .warning, "share",
                    "\(String(subject.dropFirst(prefix.count))) writes \(size / max(1, all / 100)) % of the newest events, "
                        + "and the stream is full: the events of \(max(0, hosts - 1)) others go early",
                    remedy: "look at its events; it flaps, or something else sends with its key, which you can take "
                        + "from the list of hosts")
            }
    }

    /// Whether events arrive that hosts say they have.
    ///
    /// A server whose disk was full does not store again by itself.
    package static func storing(_ hosts: [RosterHost], lastEvent: Timestamp?, now: Timestamp) -> [Finding] {
        let waiting = hosts.filter { host in
            guard let lease = host.lease, host.leaseEnded == nil, lease.behind > 0, let report = host.report else {
                return false
            }
            // It renewed its lease twice, and said both times that events wait.
            return lastEvent.map { $0.duration(to: lease.renewed) > report.lease * 2 } ?? true
                && report.behind > 0 && lease.renewed.duration(to: now) < report.lease * HostLease.patience
        }
        guard !waiting.isEmpty else { return [] }
        let since = lastEvent.map { " since \($0.description.prefix(16))" } ?? ""
        return [
            Finding(
                .wrong, "not-stored",
                "the server has stored no event\(since), though events of \(list(waiting.map(\.id))) wait",
                remedy: "look at the server's disk and log, and restart it: after a full disk it stores again only then"
            )
        ]
    }

    /// - Parameter advisories: The server's reports of the last days, in order.
    package static func doubles(_ advisories: [ConnectionAdvisory], names: [String: String]) -> [Finding] {
        var finder = DoubleIdentityFinder()
        for advisory in advisories { finder.apply(advisory) }
        return finder.doubles.filter { names[$0.key] != nil }.sorted { $0.key < $1.key }.map { key, addresses in
            let places = addresses.map(\.description).sorted().joined(separator: " and ")
            return Finding(
                .wrong, "double", "two machines connect as '\(names[key] ?? key)', from \(places)",
                remedy: "give one of them a key of its own: reach-fleet key --new")
        }
    }

    /// - Parameters:
    ///   - strangerConnects: Whether a key that no one listed is let in.
    ///   - isEncrypted: Whether all servers are named with TLS.
    package static func rights(strangerConnects: Bool, isEncrypted: Bool, isLocal: Bool) -> [Finding] {
        var findings: [Finding] = []
        if strangerConnects {
            findings.append(
                Finding(
                    .wrong, "open", "the server lets in whoever connects: any machine can write and read everything",
                    remedy: "start it with what `reach-fleet config` prints"))
        }
        if !isEncrypted, !isLocal {
            findings.append(Finding(.wrong, "plain", "a server is reached without TLS", remedy: "use tls://"))
        }
        return findings
    }

    /// - Parameters:
    ///   - advisories: The server's reports of connects, in order.
    ///   - names: The hosts by their keys.
    ///   - answerArrived: Whether an answer to this reader's request arrived at a subject that it may not write.
    package static func accounts(
        _ advisories: [ConnectionAdvisory], names: [String: String], answerArrived: Bool
    ) -> [Finding] {
        let remedy =
            "print the configuration again with `reach-fleet config`, which gives hosts and readers accounts of their own, "
            + "and reload the server"
        var findings: [Finding] = []
        if answerArrived {
            findings.append(
                Finding(
                    .wrong, "replies",
                    "a reader's key can write what it may not: the server sends its answer wherever the reader wants",
                    remedy: remedy))
        }
        var accounts: [String: String] = [:]
        for advisory in advisories where advisory.isUp { accounts[advisory.user] = advisory.account }
        let together = accounts.filter { $0.value == ServerConfiguration.Account.streams.rawValue }
            .compactMap { names[$0.key] }
        if !together.isEmpty {
            findings.append(
                Finding(
                    .wrong, "accounts",
                    "the keys of \(list(together)) can write for every host and for the operator: they are in the account "
                        + "of the streams, where the server sends its answers wherever they want",
                    remedy: remedy))
        }
        return findings
    }

    private static func list(_ names: [String]) -> String {
        let sorted = names.sorted()
        let shown = sorted.prefix(named).joined(separator: ", ")
        return sorted.count > named ? "\(shown) and \(sorted.count - named) more" : shown
    }
}

/// Finds keys that two machines use at the same time.
///
/// A machine that reconnects may leave an old connection behind, which the server finds dead after minutes. So only
/// connections that both stay count: an old one that ends by itself, and not as stale, after a newer one began.
package struct DoubleIdentityFinder: Sendable {
    /// A connection that ends within this time of a newer one's begin was being replaced.
    static let overlap: Duration = .seconds(10)

    private struct Open {
        let start: Timestamp
        let address: IPAddress?
    }

    private var open: [String: [Open]] = [:]
    private var found: [String: (times: Int, addresses: Set<IPAddress>)] = [:]

    package init() {}

    /// The keys, and the addresses from which they connected at the same time. Once may be chance, as when a cable
    /// moves.
    package var doubles: [String: Set<IPAddress>] { found.filter { $0.value.times >= 2 }.mapValues(\.addresses) }

    package mutating func apply(_ advisory: ConnectionAdvisory) {
        guard !advisory.isUp else {
            open[advisory.user, default: []].append(Open(start: advisory.start, address: advisory.address))
            return
        }
        var others = open[advisory.user] ?? []
        others.removeAll { $0.start == advisory.start }
        open[advisory.user] = others.suffix(8)
        guard advisory.reason?.hasUTF8Prefix("Stale") != true,
            let newer = others.first(where: {
                $0.start > advisory.start && $0.start + Self.overlap < advisory.time
            })
        else { return }
        var entry = found[advisory.user] ?? (0, [])
        entry.times += 1
        entry.addresses.formUnion([advisory.address, newer.address].compactMap(\.self))
        found[advisory.user] = entry
    }
}
