package import ReachCore

/// What the operator wants of hosts: a document in the bucket ``FleetNames/desired``. A host that was away converges
/// when it returns.
package struct DesiredState: Hashable, Sendable {
    /// The most bytes of a value.
    package static let sizeLimit = 4 << 10

    package enum Queue: String, Hashable, Sendable {
        case held
        case released
    }

    package var queue: Queue
    /// Why, for people on the host.
    package var reason: String?
    /// Who wants it.
    package var author: String?
    /// A name of the rollout. Hosts draw lots by it, so that a larger fraction includes the hosts of a smaller one.
    package var rollout: String
    /// The part of the hosts that it is for, 0 to 1.
    package var fraction: Double
    /// The end of its validity.
    package var until: Timestamp?

    package init(
        queue: Queue, reason: String? = nil, author: String? = nil, rollout: String, fraction: Double = 1,
        until: Timestamp? = nil
    ) {
        self.queue = queue
        self.reason = reason
        self.author = author
        self.rollout = rollout
        self.fraction = min(max(fraction, 0), 1)
        self.until = until
    }

    package init(_ bytes: [UInt8]) throws(WireError) {
        let reader = try WireReader(bytes, limit: Self.sizeLimit)
        guard let queue: Queue = try reader.word("queue") else { throw reader.fault("queue") }
        let fraction = try reader.fraction("fraction") ?? 1
        guard (0...1).contains(fraction) else { throw reader.fault("fraction") }
        self.init(
            queue: queue, reason: try reader.text("reason"), author: try reader.text("by"),
            rollout: try reader.text("rollout") ?? "", fraction: fraction, until: try reader.time("until"))
    }

    package var bytes: [UInt8] {
        var json = JSONWriter()
        json.object { json in
            json.field("v", 1)
            json.field("queue", queue.rawValue)
            json.field("reason", reason)
            json.field("by", author)
            json.field("rollout", rollout)
            json.key("fraction")
            json.value(fraction)
            json.field("until", until?.description)
        }
        return json.bytes
    }

    /// Whether the document is for this host: the host's lot lies within the fraction.
    package func includes(host: String) -> Bool {
        fraction >= 1 || StableHash.fraction(of: host, rollout) < fraction
    }

    package func isOver(at time: Timestamp) -> Bool { until.map { $0 <= time } ?? false }

    /// The keys of documents that concern a host, the most specific first.
    package static func keys(host: String, groups: [String]) -> [String] {
        ["host.\(host)"] + groups.filter(FleetNames.hostIsValid).map { "group.\($0)" } + ["all"]
    }
}
