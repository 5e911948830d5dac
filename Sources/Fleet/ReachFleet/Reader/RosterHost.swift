package import ReachCore

/// What the engine holds about one host: what the host says of itself, its lease, and its last connection.
///
/// It keeps what readers show and not the values as they came: a fleet of 100,000 is read in 256 MiB.
package struct RosterHost: Hashable, Sendable {
    /// From the host's state. Texts are bounded and have no control characters.
    package struct Report: Hashable, Sendable {
        package var name: String?
        package var labels: [String: String]
        package var groups: [String]
        package var accepts: [String]
        package var version: String
        /// `nil` if the daemon had not answered.
        package var internet: Internet?
        /// Targets that are not reachable, and probes that are down.
        package var down: [String]
        package var queueWaiting: UInt64
        package var queueHolds: [String]
        package var behind: UInt64
        package var dropped: UInt64
        package var lease: Duration
        package var left: Timestamp?
        package var desired: UInt64
        /// Whether another machine writes with its identity, as one of the two says.
        package var hasConflict: Bool
        /// When the host wrote the state, by its clock, and when the engine stored it.
        package var written: Timestamp
        package var stored: Timestamp
    }

    /// What a host says of the Internet.
    package struct Internet: Hashable, Sendable {
        package var status: ReachabilityStatus
        package var reason: Reason?
        package var rootCause: RootCause?
        package var connectivity: Connectivity
        package var connectivityReason: Reason?
        package var linkClass: LinkClass?
        package var gateway: IPAddress?
        package var source: IPPrefix?
        /// Since when the status holds, by the host's clock.
        package var since: Timestamp?

        init(_ status: HostStatus) {
            self.status = status.status
            reason = status.reason
            rootCause = status.rootCause
            connectivity = status.connectivity
            connectivityReason = status.connectivityReason
            linkClass = status.linkClass
            let isIPv4 = status.ipv4.status == .reachable || status.ipv6.status != .reachable
            let path = isIPv4 ? status.ipv4 : status.ipv6
            (gateway, source) = (path.gateway, path.source)
            since = status.since
        }
    }

    /// A lease that was renewed.
    package struct Lease: Hashable, Sendable {
        /// When the engine stored the renewal.
        package var renewed: Timestamp
        /// Since when the host is connected, by its clock.
        package var since: Timestamp
        package var behind: UInt64
        package var boot: String
    }

    /// The newest connection that the server reported.
    package struct Connection: Hashable, Sendable {
        package var isUp: Bool
        package var time: Timestamp
        package var start: Timestamp
        package var address: IPAddress?
        package var reason: String?

        /// When the host was there: it connected, or it closed the connection.
        var sighting: Timestamp { isUp || !Self.endShowsHost(reason) ? start : time }

        /// What the server's words for the end mean. Those of a connection that lasts mean nothing.
        static func ending(_ reason: String?) -> PresenceRecord.Connection.Ending {
            guard let reason else { return .lost }
            if reason.hasUTF8Prefix("Client Closed") { return .closed }
            return reason.hasUTF8Prefix("Server Shutdown") ? .shutdown : .lost
        }

        var ending: PresenceRecord.Connection.Ending { Self.ending(reason) }

        /// Whether a connection's end comes from the host, by the server's words for it. The server itself ends one
        /// that is stale, one that it cannot write to, and all when it shuts down.
        static func endShowsHost(_ reason: String?) -> Bool {
            guard let reason else { return true }
            return !["Stale Connection", "Slow Consumer", "Write ", "Server Shutdown"].contains {
                reason.hasUTF8Prefix($0)
            }
        }
    }

    package let id: String
    /// The public half of the key that the operator gave it; `nil` if no list of hosts is stored.
    package internal(set) var key: String?
    /// Its second key, while it gets a new one.
    package internal(set) var otherKey: String?
    /// When its token ends; `nil` if it has none, or nobody stored it.
    package internal(set) var tokenEnd: Timestamp?
    /// Labels that the operator gave it in the list of hosts, and later by itself.
    package internal(set) var listedLabels: [String: String] = [:]
    /// The groups of the list of hosts.
    package internal(set) var listedGroups: [String] = []
    package internal(set) var notedLabels: [String: String] = [:]
    /// Since when it is retired; `nil` if it is not.
    package internal(set) var retired: Timestamp?
    package internal(set) var report: Report?
    package internal(set) var lease: Lease?
    /// When the engine ended the lease, or the host deleted it; `nil` while there is one, and where the engine says
    /// nothing.
    package internal(set) var leaseEnded: Timestamp?
    /// Whether the engine ended it, since it was not renewed.
    package internal(set) var leaseIsExpired = false
    package internal(set) var connection: Connection?

    init(id: String) { self.id = id }

    /// The groups that it names itself, and those of the list of hosts.
    package var groups: [String] {
        let own = report?.groups ?? []
        return own + listedGroups.filter { !own.contains($0) }
    }

    /// Its labels: its own, and those of the operator, who goes before.
    package var labels: [String: String] {
        let own = report?.labels ?? [:]
        guard !listedLabels.isEmpty || !notedLabels.isEmpty else { return own }
        return own.merging(listedLabels) { $1 }.merging(notedLabels) { $1 }
    }

    /// The difference between the engine's clock and the host's, as of its state. It includes the time on the way.
    package var clockOffset: Duration? {
        report.map { $0.written.duration(to: $0.stored) }
    }

    /// A time of the host's clock by the engine's. Within ``RosterHost/clockTolerance`` both are the same.
    package func corrected(_ time: Timestamp) -> Timestamp {
        guard let offset = clockOffset, !Self.isTolerable(offset) else { return time }
        let (sum, overflow) = time.nanosecondsSince1970.addingReportingOverflow(offset.nanoseconds)
        return overflow ? time : Timestamp(nanosecondsSince1970: sum)
    }

    /// Clocks that differ by no more are the same for readers.
    package static let clockTolerance: Duration = .seconds(2)

    package static func isTolerable(_ offset: Duration) -> Bool {
        offset >= .zero - clockTolerance && offset <= clockTolerance
    }
}

extension RosterHost.Report {
    /// Whether the fleet may hold the host's queue. Agents of earlier versions do not say it, but what they have
    /// applied.
    package var acceptsHolds: Bool { accepts.contains { $0 == "queue-hold" } || desired > 0 }

    init(_ state: HostState, stored: Timestamp) {
        name = state.name
        labels = state.labels
        groups = state.groups
        accepts = state.accepts
        version = state.version
        internet = state.status.map(RosterHost.Internet.init)
        down = state.targets.filter { $0.value == .notReachable }.keys.sorted() + state.probesDown
        queueWaiting = state.queue.waiting
        queueHolds = state.queue.holds
        behind = state.outbox.behind
        dropped = state.outbox.dropped
        lease = state.lease
        left = state.left
        desired = state.desired
        hasConflict = state.hasConflict
        written = state.written.wall
        self.stored = stored
    }
}
