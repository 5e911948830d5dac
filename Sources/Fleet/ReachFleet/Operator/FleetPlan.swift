internal import ReachCore

/// The streams and buckets of a fleet, as `setup` makes them.
package struct FleetPlan: Hashable, Sendable {
    package var version: ServerVersion
    /// Copies of each stream in a cluster: 1, or 3 to survive a server.
    package var replicas = 1
    /// How long events stay.
    package var eventAge: Duration = .seconds(30 * 86_400)
    /// The most bytes of events; without it a share of the store.
    package var eventBytes: Int64?
    /// The most bytes that the server's store holds; `nil` if it does not say.
    package var storeBytes: Int64?

    package init(version: ServerVersion) { self.version = version }

    /// A host that sends nonsense pushes out its own events first: at 150 chunks a day these last for four months.
    static let messagesOfHost: Int64 = 20_000
    /// How long a lease stays readable after it ran out.
    static let leaseAge: Duration = .seconds(7 * 86_400)
    static let connectionAge: Duration = .seconds(14 * 86_400)
    static let auditAge: Duration = .seconds(400 * 86_400)
    static let duplicateWindow: Duration = .seconds(120)

    /// The shares of the store, in parts of a hundred. What is left is for states, leases and what the operator wants:
    /// a store that is full refuses these of every host.
    static let eventShare: Int64 = 70
    static let connectionShare: Int64 = 10
    static let auditShare: Int64 = 2

    private func share(_ part: Int64) -> Int64? { storeBytes.map { $0 / 100 * part } }

    package var streams: [StreamPlan] { [events, state, lease, connections, desired, hosts, notes, audit] }

    private var events: StreamPlan {
        stream(
            FleetNames.events, "events of the hosts", subjects: [FleetNames.eventSubject(of: "*")], age: eventAge,
            bytes: eventBytes ?? share(Self.eventShare),
            [
                limit("max_msg_size", Int64(EventChunk.sizeLimit)),
                limit("max_msgs_per_subject", Self.messagesOfHost),
            ])
    }

    private var connections: StreamPlan {
        stream(
            FleetNames.connections, "connects and disconnects, as the server reports them",
            subjects: ["reach.v1.conn.up.*", "reach.v1.conn.down.*"], age: Self.connectionAge,
            bytes: share(Self.connectionShare),
            [limit("max_msg_size", 64 << 10)])
    }

    private var state: StreamPlan {
        bucket(FleetNames.state, "the current state of each host", size: HostState.sizeLimit, hasManyWriters: true)
    }

    private var desired: StreamPlan {
        bucket(FleetNames.desired, "what the operator wants", size: DesiredState.sizeLimit, history: 10)
    }

    private var hosts: StreamPlan { bucket(HostList.bucket, "the hosts and their keys", size: 4 << 10) }

    private var notes: StreamPlan { bucket(FleetNames.notes, "what operators note", size: HostNote.sizeLimit) }

    private var audit: StreamPlan {
        stream(
            FleetNames.audit, "what operators did", subjects: [FleetNames.auditSubject(ofKey: "*")], age: Self.auditAge,
            bytes: share(Self.auditShare), [limit("max_msg_size", Int64(OperatorAction.sizeLimit))])
    }

    private var lease: StreamPlan {
        // Readers find the end of a lease by its own time, on every version. It is kept for long, since it alone says
        // when a host that is silent renewed it last. A bucket whose server marks the ends of leases would let hosts
        // empty it: marks need the right to `Nats-Rollup`.
        let kept: [StreamPlan.Setting] =
            (version.hasMessageTTL ? [.init(key: "subject_delete_marker_ttl", value: .integer(0), rule: .neutral)] : [])
            + [limit("max_age", Self.leaseAge.nanoseconds, unlimited: 0)]
        // A server by itself forgets streams in memory when it restarts, and their settings with them; a cluster does
        // not.
        return bucket(
            FleetNames.lease, "who is here", size: HostLease.sizeLimit, storage: replicas > 1 ? "memory" : "file",
            hasManyWriters: true, kept)
    }

    // MARK: - Parts

    private func stream(
        _ name: String, _ purpose: String, subjects: [String], age: Duration, bytes: Int64?,
        _ more: [StreamPlan.Setting]
    ) -> StreamPlan {
        StreamPlan(
            name: name, purpose: purpose,
            settings: common(subjects, storage: "file", discard: "old") + [
                limit("max_age", age.nanoseconds, unlimited: 0),
                .init(key: "deny_delete", value: .bool(true), rule: .guarantee),
                .init(
                    key: "duplicate_window", value: .integer(Self.duplicateWindow.nanoseconds), rule: .neutral),
            ] + (bytes.map { [limit("max_bytes", $0)] } ?? []) + more)
    }

    /// A bucket as NATS's key-value convention (ADR-8) has it.
    private func bucket(
        _ name: String, _ purpose: String, size: Int, history: Int64 = 1, storage: String = "file",
        hasManyWriters: Bool = false, _ more: [StreamPlan.Setting] = []
    ) -> StreamPlan {
        StreamPlan(
            name: FleetNames.stream(of: name), purpose: purpose,
            settings: common([FleetNames.subject(ofKey: ">", in: name)], storage: storage, discard: "new") + [
                limit("max_msgs_per_subject", history),
                limit("max_msg_size", Int64(size)),
                // Where hosts write, a message with `Nats-Rollup` would delete what others wrote.
                hasManyWriters
                    ? .init(key: "allow_rollup_hdrs", value: .bool(false), rule: .prohibition)
                    : .init(key: "allow_rollup_hdrs", value: .bool(true), rule: .neutral),
                .init(key: "deny_delete", value: .bool(true), rule: .guarantee),
            ] + more)
    }

    private func common(_ subjects: [String], storage: String, discard: String) -> [StreamPlan.Setting] {
        var settings: [StreamPlan.Setting] = [
            .init(key: "subjects", value: .array(subjects.map(JSONValue.string)), rule: .neutral),
            .init(key: "storage", value: .string(storage), rule: .fixed),
            .init(key: "retention", value: .string("limits"), rule: .fixed),
            .init(key: "discard", value: .string(discard), rule: .neutral),
            .init(key: "num_replicas", value: .integer(Int64(replicas)), rule: .amount),
            .init(key: "allow_direct", value: .bool(true), rule: .guarantee),
        ]
        if version.hasCompression, storage == "file" {
            settings.append(.init(key: "compression", value: .string("s2"), rule: .neutral))
        }
        return settings
    }

    private func limit(_ key: String, _ value: Int64, unlimited: Int64 = -1) -> StreamPlan.Setting {
        .init(key: key, value: .integer(value), rule: .limit(unlimited: unlimited))
    }
}
