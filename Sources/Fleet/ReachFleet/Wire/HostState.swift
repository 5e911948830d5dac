package import ReachCore

/// What a host says of itself now: the value of its key in the bucket ``FleetNames/state``.
package struct HostState: Hashable, Sendable {
    /// The most bytes of a value.
    package static let sizeLimit = 16 << 10
    /// The most labels and groups, and the most bytes of each of their texts.
    package static let labelLimit = 16
    package static let labelBytes = 64

    /// The host's request queue.
    package struct Queue: Hashable, Sendable {
        package var waiting: UInt64
        package var dead: UInt64
        /// Who holds it: `user`, `fleet`. Empty if no one does.
        package var holds: [String]

        package init(waiting: UInt64 = 0, dead: UInt64 = 0, holds: [String] = []) {
            self.waiting = waiting
            self.dead = dead
            self.holds = holds
        }
    }

    /// The events that wait on the host.
    package struct Outbox: Hashable, Sendable {
        package var behind: UInt64
        /// The time of the oldest waiting event, by the host's clock.
        package var oldest: Timestamp?
        /// Events that the host deleted before they were sent.
        package var dropped: UInt64

        package init(behind: UInt64 = 0, oldest: Timestamp? = nil, dropped: UInt64 = 0) {
            self.behind = behind
            self.oldest = oldest
            self.dropped = dropped
        }
    }

    /// As the host writes it. Readers use the subject's, since a host writes what it likes.
    package var host: String
    /// A name for people, if the configuration has one.
    package var name: String?
    package var labels: [String: String] = [:]
    /// Whether another machine writes with this host's identity.
    package var hasConflict = false
    package var groups: [String] = []
    /// What the fleet may do to the host: `queue-hold`.
    package var accepts: [String] = []
    /// The version of reach.
    package var version: String
    package var written: Instant
    /// A hash of the host's boot identifier.
    package var boot: String
    /// The log of the latest event that this state includes, and the event's number; `nil` before the first.
    package var log: String?
    package var n: UInt64 = 0
    /// The Internet, `nil` if the daemon did not answer yet.
    package var status: HostStatus?
    /// The words of further targets by their names.
    package var targets: [String: ReachabilityStatus] = [:]
    /// Configured probes that are down.
    package var probesDown: [String] = []
    package var queue = Queue()
    package var outbox = Outbox()
    /// How often the host renews its lease.
    package var lease: Duration
    /// When the host said goodbye; `nil` while it is here.
    package var left: Timestamp?
    /// The newest revision of desired state that the host has applied; 0 for none.
    package var desired: UInt64 = 0

    package init(host: String, version: String, written: Instant, boot: String, lease: Duration) {
        self.host = host
        self.version = version
        self.written = written
        self.boot = boot
        self.lease = lease
    }
}

// MARK: - JSON

extension HostState {
    /// Whether a text can be a host's name, or a label or its name.
    package static func isLabel(_ text: String) -> Bool {
        (1...labelBytes).contains(text.utf8.count) && DisplayText.sanitized(text) == text
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        let host = try reader.requiredText("host")
        guard FleetNames.hostIsValid(host) else { throw reader.fault("host") }
        guard let seconds: Int64 = try reader.number("lease_s"), (1...86_400).contains(seconds) else {
            throw reader.fault("lease_s")
        }
        self.init(
            host: host, version: try reader.text("version", limit: 64) ?? "", written: try reader.instant(),
            boot: try reader.text("boot", limit: 64) ?? "", lease: .seconds(seconds))
        name = try reader.text("name", limit: Self.labelBytes)
        labels = try reader.textsByName("labels", most: Self.labelLimit, limit: Self.labelBytes)
        groups = try reader.texts("groups", most: Self.labelLimit, limit: Self.labelBytes)
        accepts = try reader.texts("accepts", most: 8, limit: 64)
        log = try reader.text("log", limit: 64)
        n = try reader.number("n") ?? 0
        status = try reader.object("status").map(HostStatus.init)
        targets = try reader.textsByName("targets").mapValues { ReachabilityStatus(rawValue: $0) ?? .unknown }
        probesDown = try reader.object("probes")?.texts("down") ?? []
        queue = try reader.object("queue").map(Queue.init) ?? Queue()
        outbox = try reader.object("outbox").map(Outbox.init) ?? Outbox()
        left = try reader.time("left")
        desired = try reader.number("desired") ?? 0
        hasConflict = try reader.flag("conflict")
    }

    /// The value's bytes. Lists that are too long for ``sizeLimit`` are cut.
    package var bytes: [UInt8] {
        let bytes = encoded()
        guard bytes.count > Self.sizeLimit else { return bytes }
        var cut = self
        cut.targets = [:]
        cut.probesDown = Array(probesDown.prefix(64))
        return cut.encoded()
    }

    private func encoded() -> [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("type", "host")
            json.field("host", host)
            json.field("name", name)
            json.field("labels", textsByName: labels)
            json.field("groups", groups)
            json.field("accepts", accepts)
            json.field("version", version)
            json.field("time", written.wall)
            json.field("boottime_ns", written.boot.nanoseconds)
            json.field("boot", boot)
            json.field("log", log)
            json.field("n", Int64(clamping: n))
            json.key("status")
            if let status { status.write(to: &json) } else { json.value(nil) }
            json.field("targets", textsByName: targets.mapValues(\.rawValue))
            json.field("probes", object: { $0.field("down", probesDown) })
            json.field("queue", object: queue.write)
            json.field("outbox", object: outbox.write)
            json.field("lease_s", lease.components.seconds)
            if let left { json.field("left", left) }
            if desired > 0 { json.field("desired", Int64(clamping: desired)) }
            if hasConflict { json.field("conflict", true) }
        }
        return json.bytes
    }
}

extension HostState.Queue {
    fileprivate init(_ reader: WireReader) throws(WireError) {
        self.init(
            waiting: try reader.number("waiting") ?? 0, dead: try reader.number("dead") ?? 0,
            holds: try reader.texts("held", most: 8, limit: 64))
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.field("waiting", Int64(clamping: waiting))
        json.field("dead", Int64(clamping: dead))
        json.field("held", holds)
    }
}

extension HostState.Outbox {
    fileprivate init(_ reader: WireReader) throws(WireError) {
        self.init(
            behind: try reader.number("behind") ?? 0, oldest: try reader.time("oldest"),
            dropped: try reader.number("dropped") ?? 0)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.field("behind", Int64(clamping: behind))
        json.field("oldest", oldest?.description)
        json.field("dropped", Int64(clamping: dropped))
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ name: StaticString, textsByName texts: [String: String]) {
        field(
            name,
            object: { json in
                for (key, text) in texts.sorted(by: { $0.key < $1.key }) {
                    json.key(named: key)
                    json.value(text)
                }
            })
    }
}
