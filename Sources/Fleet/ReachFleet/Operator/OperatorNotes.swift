package import ReachCore

/// A time in which alerts about some hosts are quiet, and in which their absence is not counted.
package struct QuietTime: Hashable, Sendable {
    /// The most bytes of a value in the bucket.
    package static let sizeLimit = 4 << 10
    /// The longest time: what nobody ends must end by itself.
    package static let longest: Duration = .seconds(90 * 86_400)
    /// How long one that is over stays, for reports.
    package static let kept: Duration = .seconds(400 * 86_400)

    /// Its name among the operator's.
    package let id: String
    /// The group that it is limited to, because its operator is; `nil` for all hosts.
    package let group: String?
    package var query: HostQuery
    package var from: Timestamp
    package var until: Timestamp
    package var why: String?
    /// Who wants it, as the operator's program says.
    package var author: String?

    package init(
        id: String, group: String? = nil, query: HostQuery, from: Timestamp, until: Timestamp, why: String? = nil,
        author: String? = nil
    ) {
        self.id = id
        self.group = group
        self.query = query
        self.from = from
        self.until = until
        self.why = why
        self.author = author
    }

    /// Reads an entry of the bucket.
    ///
    /// - Parameter key: `quiet.all.ID` or `quiet.group.GROUP.ID`: the server lets an operator of a group write only the
    ///   latter.
    package init?(key: String, _ value: [UInt8]) {
        let parts = key.split(scalar: ".").map(String.init)
        let isOfGroup = parts.count == 4 && parts[1] == "group"
        guard parts.first == "quiet", isOfGroup || (parts.count == 3 && parts[1] == "all"),
            let reader = try? WireReader(value, limit: Self.sizeLimit),
            let query = try? HostQuery(reader.text("where", limit: HostQuery.sizeLimit) ?? "host=*"),
            let from = try? reader.time("from"), let until = try? reader.time("until")
        else { return nil }
        self.init(
            id: parts[parts.count - 1], group: isOfGroup ? parts[2] : nil, query: query, from: from, until: until,
            why: (try? reader.text("why")) ?? nil, author: (try? reader.text("by")) ?? nil)
    }

    package var key: String { group.map { "quiet.group.\($0).\(id)" } ?? "quiet.all.\(id)" }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("where", query.description)
            json.field("from", from)
            json.field("until", until)
            json.field("why", why)
            json.field("by", author)
        }
        return json.bytes
    }

    package func isActive(at time: Timestamp) -> Bool { from <= time && time < until }

    /// Whether it is about a host. A group is one of the list of hosts, since a host can name itself any group.
    package func covers(_ host: RosterHost, _ presence: HostPresence) -> Bool {
        if let group, !host.listedGroups.contains(group) { return false }
        return query.includes(host, presence)
    }
}

/// That an operator knows of an alert.
package struct Acknowledgement: Hashable, Sendable {
    /// The name of the alert.
    package var alert: String
    /// The group whose operator wrote it; `nil` for one of all hosts.
    package var group: String?
    package var author: String?
    package var why: String?
    package var until: Timestamp?
    /// When the server stored it.
    package var stored: Timestamp

    package init(
        alert: String, author: String? = nil, why: String? = nil, until: Timestamp? = nil, stored: Timestamp
    ) {
        self.alert = alert
        self.author = author
        self.why = why
        self.until = until
        self.stored = stored
    }

    package init?(_ value: [UInt8], stored: Timestamp) {
        guard let reader = try? WireReader(value, limit: HostNote.sizeLimit),
            let alert = try? reader.requiredText("alert")
        else { return nil }
        self.init(
            alert: alert, author: (try? reader.text("by")) ?? nil, why: (try? reader.text("why")) ?? nil,
            until: (try? reader.time("until")) ?? nil, stored: stored)
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("alert", alert)
            json.field("by", author)
            json.field("why", why)
            json.field("until", until?.description)
        }
        return json.bytes
    }

    /// The end of its key in the bucket. An alert's name may have any characters.
    package static func id(of alert: String) -> String {
        String(StableHash.hash(alert), radix: 36)
    }
}

/// What the bucket ``FleetNames/notes`` says, besides what it says about single hosts.
package struct OperatorNotes: Hashable, Sendable {
    /// The most entries of a kind that are kept.
    package static let limit = 10_000

    private var quietTimes: [String: QuietTime] = [:]
    private var acknowledgements: [String: Acknowledgement] = [:]
    private var names: [String: OperatorName] = [:]

    package init() {}

    /// The earliest first.
    package var quiet: [QuietTime] {
        quietTimes.values.sorted { ($0.from, $0.key) < ($1.from, $1.key) }
    }

    package func name(ofKey key: String) -> OperatorName? { names[key] }

    /// The newest that holds for an alert. That of an operator of a group holds if all of the alert's hosts are in the
    /// group.
    package func acknowledgement(
        of alert: String, about hosts: Set<String>, in roster: Roster, at now: Timestamp
    ) -> Acknowledgement? {
        acknowledgements.values.filter { note in
            guard note.alert == alert, note.until.map({ now < $0 }) ?? true else { return false }
            guard let group = note.group else { return true }
            return hosts.allSatisfy { roster[$0]?.listedGroups.contains(group) ?? false }
        }.max { $0.stored < $1.stored }
    }

    /// Why alerts about a host are quiet; `nil` if they are not.
    package func quietReason(_ host: RosterHost, _ presence: HostPresence, at now: Timestamp) -> String? {
        quietTimes.values.filter { $0.isActive(at: now) && $0.covers(host, presence) }
            .min { ($0.from, $0.key) < ($1.from, $1.key) }
            .map { $0.why ?? "quiet \($0.id)" }
    }

    /// An entry of the bucket; `nil` if it was deleted.
    ///
    /// - Returns: The host that it is about; `nil` for other entries.
    package mutating func apply(key: String, _ value: [UInt8]?, storedAt time: Timestamp) -> String? {
        if let host = key.after("host.") { return String(host) }
        if key.hasUTF8Prefix("quiet.") {
            quietTimes[key] = value.flatMap { QuietTime(key: key, $0) }
            if quietTimes.count > Self.limit { quietTimes[key] = nil }
        } else if key.hasUTF8Prefix("ack.") {
            acknowledgements[key] = value.flatMap { Acknowledgement($0, stored: time) }
            let parts = key.split(scalar: ".")
            if parts.count == 4, parts[1] == "group" { acknowledgements[key]?.group = String(parts[2]) }
            if acknowledgements.count > Self.limit { acknowledgements[key] = nil }
        } else if let name = key.after("key.") {
            names[String(name)] = value.flatMap { OperatorName($0) }
        }
        return nil
    }
}
