package import ReachCore

/// A time in which alerts about some hosts are quiet, and in which their absence is not counted. One that comes again
/// is within ``from`` and ``until``.
package struct QuietTime: Hashable, Sendable {
    /// The most bytes of a value in the bucket.
    package static let sizeLimit = 4 << 10
    /// The longest time: what nobody ends must end by itself.
    package static let longest: Duration = .seconds(90 * 86_400)
    /// The longest of one that comes again: for as long its clocks are known.
    package static let longestDaily: Duration = .seconds(366 * 86_400)
    /// How long one that is over stays, for reports.
    package static let kept: Duration = .seconds(400 * 86_400)

    /// Its name among the operator's.
    package let id: String
    /// The group that it is limited to, because its operator is; `nil` for all hosts.
    package let group: String?
    package var query: HostQuery
    package var from: Timestamp
    package var until: Timestamp
    /// The time of day, if it comes again.
    package var daily: DailyTime?
    package var why: String?
    /// Who wants it, as the operator's program says.
    package var author: String?

    package init(
        id: String, group: String? = nil, query: HostQuery, from: Timestamp, until: Timestamp, daily: DailyTime? = nil,
        why: String? = nil, author: String? = nil
    ) {
        self.id = id
        self.group = group
        self.query = query
        self.from = from
        self.until = until
        self.daily = daily
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
            let (from, until, daily) = try? Self.times(reader)
        else { return nil }
        self.init(
            id: parts[parts.count - 1], group: isOfGroup ? parts[2] : nil, query: query, from: from, until: until,
            daily: daily, why: (try? reader.text("why")) ?? nil, author: (try? reader.text("by")) ?? nil)
    }

    /// One that comes again has its limits under other names, so that earlier readers do not take all of it for quiet.
    private static func times(_ reader: WireReader) throws(WireError) -> (Timestamp, Timestamp, DailyTime?) {
        guard let text = try reader.text("every") else {
            guard let from = try reader.time("from") else { throw reader.fault("from") }
            guard let until = try reader.time("until") else { throw reader.fault("until") }
            return (from, until, nil)
        }
        let offsets = try reader.texts("clocks", most: DailyTime.offsetLimit).compactMap { DailyTime.Offset($0) }
        guard let daily = DailyTime(text, offsets: offsets), !offsets.isEmpty else { throw reader.fault("every") }
        guard let from = try reader.time("first") else { throw reader.fault("first") }
        guard let until = try reader.time("last"), from.duration(to: until) <= longestDaily else {
            throw reader.fault("last")
        }
        return (from, until, daily)
    }

    package var key: String { group.map { "quiet.group.\($0).\(id)" } ?? "quiet.all.\(id)" }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("where", query.description)
            json.field(daily == nil ? "from" : "first", from)
            json.field(daily == nil ? "until" : "last", until)
            if let daily {
                json.field("every", daily.description)
                json.field("clocks", daily.offsets.map(\.text))
            }
            json.field("why", why)
            json.field("by", author)
        }
        return json.bytes
    }

    package func isActive(at time: Timestamp) -> Bool {
        from <= time && time < until && daily?.contains(time) ?? true
    }

    /// When it is active within a window, in nanoseconds since 1970.
    func spans(in window: Range<Int64>) -> [Range<Int64>] {
        guard from < until else { return [] }
        let all = (from.nanosecondsSince1970..<until.nanosecondsSince1970).clamped(to: window)
        guard let daily, !all.isEmpty else { return [all] }
        return daily.spans(in: all)
    }

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
