/// The subjects that each kind of user may publish to and subscribe to.
package struct FleetRights: Hashable, Sendable {
    package let publish: [String]
    package let subscribe: [String]

    /// Where replies for readers arrive. Hosts have `_INBOX.HOST`, and no host's name has a dot or is this.
    package static let readerInbox = "_INBOX_READER"

    package static func hostInbox(_ host: String) -> String { "_INBOX.\(host)" }

    /// Where readers may ask the servers about themselves: their version, their clock, their settings.
    package static let serverSubject = "reach.v1.sys.varz"

    /// A host: its own subjects, and what the operator wants of it.
    package static func host(_ host: String, groups: [String] = []) -> FleetRights {
        Self.host(host, desired: DesiredState.keys(host: host, groups: groups))
    }

    /// - Parameter desired: The keys of what the operator wants of the host.
    static func host(_ host: String, desired: [String]) -> FleetRights {
        let desired = desired.map { FleetNames.subject(ofKey: $0, in: FleetNames.desired) }
        let subjects = [
            FleetNames.eventSubject(of: host), FleetNames.subject(ofKey: host, in: FleetNames.state),
            FleetNames.subject(ofKey: host, in: FleetNames.lease),
        ]
        let tail = "\(directGet(FleetNames.events)).\(FleetNames.eventSubject(of: host))"
        // What the engine had of the host, should its subject be empty.
        let state =
            "\(directGet(FleetNames.stream(of: FleetNames.state))).\(FleetNames.subject(ofKey: host, in: FleetNames.state))"
        // When the engine had its last word.
        let lease =
            "\(directGet(FleetNames.stream(of: FleetNames.lease))).\(FleetNames.subject(ofKey: host, in: FleetNames.lease))"
        let bucket = directGet(FleetNames.stream(of: FleetNames.desired))
        return FleetRights(
            publish: subjects + [tail, state, lease] + desired.map { "\(bucket).\($0)" },
            subscribe: ["\(hostInbox(host)).>"] + desired)
    }

    /// Whoever looks: reads all streams and buckets, writes nothing.
    package static var reader: FleetRights {
        FleetRights(
            publish: streams.flatMap { stream in
                [
                    "$JS.API.STREAM.INFO.\(stream)", "$JS.API.CONSUMER.CREATE.\(stream).>",
                    "$JS.API.CONSUMER.MSG.NEXT.\(stream).>", "$JS.API.CONSUMER.DELETE.\(stream).>",
                    "\(directGet(stream)).>",
                ]
            } + ["$JS.API.INFO", serverSubject],
            subscribe: ["\(readerInbox).>"])
    }

    /// Whoever holds, releases and notes: a reader that writes what is wanted, and notes about hosts.
    ///
    /// - Parameters:
    ///   - key: The operator's key, which names the subject of what it records.
    ///   - groups: The groups that it is responsible for; none for all hosts.
    ///   - hosts: The list of hosts, which says who is in these groups.
    package static func controller(_ key: String, groups: [String] = [], hosts: HostList = HostList()) -> FleetRights {
        let wanted = groups.isEmpty ? [">"] : groups.map { "group.\($0)" } + members(groups, hosts)
        let notes =
            groups.isEmpty
            ? noteKeys : members(groups, hosts) + groups.flatMap { ["quiet.group.\($0).*", "ack.group.\($0).*"] }
        return FleetRights(
            publish: reader.publish + wanted.map { FleetNames.subject(ofKey: $0, in: FleetNames.desired) }
                + wanted.map { FleetNames.announcementSubject(ofKey: $0) }
                + notes.map { FleetNames.subject(ofKey: $0, in: FleetNames.notes) } + [
                    FleetNames.auditSubject(ofKey: key)
                ],
            subscribe: reader.subscribe)
    }

    private static func members(_ groups: [String], _ hosts: HostList) -> [String] {
        let groups = Set(groups)
        return hosts.entries.filter { !groups.isDisjoint(with: $0.groups) }.map { "host.\($0.host)" }
    }

    /// What an operator of all hosts may note. The names of keys are the administrator's.
    private static let noteKeys = ["host.*", "quiet.all.*", "quiet.group.*.*", "ack.all.*", "ack.group.*.*"]

    /// Whoever sets up: makes and changes streams, and stores the lists of hosts and operators.
    package static func administrator(_ key: String) -> FleetRights {
        FleetRights(
            publish: [
                "$JS.API.>", serverSubject, FleetNames.subject(ofKey: ">", in: HostList.bucket),
                FleetNames.subject(ofKey: ">", in: FleetNames.notes), FleetNames.auditSubject(ofKey: key),
            ],
            subscribe: reader.subscribe)
    }

    // MARK: - What the accounts import

    /// What hosts ask of the account with the streams. A host's own subjects end in its name.
    static var hostServices: [String] {
        [
            FleetNames.eventSubject(of: "*"), FleetNames.subject(ofKey: "*", in: FleetNames.state),
            FleetNames.subject(ofKey: "*", in: FleetNames.lease),
            "\(directGet(FleetNames.events)).\(FleetNames.eventSubject(of: "*"))",
            "\(directGet(FleetNames.stream(of: FleetNames.state))).\(FleetNames.subject(ofKey: "*", in: FleetNames.state))",
            "\(directGet(FleetNames.stream(of: FleetNames.lease))).\(FleetNames.subject(ofKey: "*", in: FleetNames.lease))",
            "\(directGet(FleetNames.stream(of: FleetNames.desired))).>",
        ]
    }

    /// What readers ask of the account with the streams.
    static var readerServices: [String] { reader.publish.filter { $0 != serverSubject } }

    /// What operators ask of the account with the streams.
    static var controllerServices: [String] {
        readerServices + [FleetNames.subject(ofKey: ">", in: FleetNames.desired)]
            + noteKeys.map { FleetNames.subject(ofKey: $0, in: FleetNames.notes) } + [
                FleetNames.auditSubject(ofKey: "*")
            ]
    }

    private static var streams: [String] {
        [FleetNames.events, FleetNames.connections, FleetNames.audit]
            + [FleetNames.state, FleetNames.lease, FleetNames.desired, HostList.bucket, FleetNames.notes]
            .map(FleetNames.stream)
    }

    private static func directGet(_ stream: String) -> String { "$JS.API.DIRECT.GET.\(stream)" }
}
