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
        let desired = DesiredState.keys(host: host, groups: groups).map {
            FleetNames.subject(ofKey: $0, in: FleetNames.desired)
        }
        let subjects = [
            FleetNames.eventSubject(of: host), FleetNames.subject(ofKey: host, in: FleetNames.state),
            FleetNames.subject(ofKey: host, in: FleetNames.lease),
        ]
        let tail = "\(directGet(FleetNames.events)).\(FleetNames.eventSubject(of: host))"
        // What the engine had of the host, should its subject be empty.
        let state =
            "\(directGet(FleetNames.stream(of: FleetNames.state))).\(FleetNames.subject(ofKey: host, in: FleetNames.state))"
        let bucket = directGet(FleetNames.stream(of: FleetNames.desired))
        return FleetRights(
            publish: subjects + [tail, state] + desired.map { "\(bucket).\($0)" },
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

    /// Whoever holds and releases: a reader that writes desired state.
    package static var controller: FleetRights {
        FleetRights(
            publish: reader.publish + [
                FleetNames.subject(ofKey: ">", in: FleetNames.desired), FleetNames.announcementSubject(ofKey: ">"),
            ],
            subscribe: reader.subscribe)
    }

    /// Whoever sets up: makes and changes streams, and stores the list of hosts.
    package static var administrator: FleetRights {
        FleetRights(
            publish: ["$JS.API.>", serverSubject, FleetNames.subject(ofKey: ">", in: HostList.bucket)],
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
            "\(directGet(FleetNames.stream(of: FleetNames.desired))).>",
        ]
    }

    /// What readers ask of the account with the streams.
    static var readerServices: [String] { reader.publish.filter { $0 != serverSubject } }

    /// What operators ask of the account with the streams.
    static var controllerServices: [String] {
        readerServices + [FleetNames.subject(ofKey: ">", in: FleetNames.desired)]
    }

    private static var streams: [String] {
        [FleetNames.events, FleetNames.connections]
            + [FleetNames.state, FleetNames.lease, FleetNames.desired, HostList.bucket].map(FleetNames.stream)
    }

    private static func directGet(_ stream: String) -> String { "$JS.API.DIRECT.GET.\(stream)" }
}
