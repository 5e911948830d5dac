package import ReachCore

extension JSONWriter {
    /// The members about a host and its word, for programs.
    ///
    /// - Parameter quiet: Why alerts about it are quiet; `nil` if they are not.
    package mutating func members(of host: RosterHost, _ presence: HostPresence, quiet: String? = nil) {
        field("host", host.id)
        field("name", host.report?.name)
        field("word", presence.word.rawValue)
        field("state", presence.word.shown)
        field("since", presence.since?.description)
        field("host_since", presence.hostSince?.description)
        field("reason", presence.reason)
        field("why", presence.why)
        key("presumed")
        grounds(presence, if: presence.isPresumed)
        key("confirmed")
        grounds(presence, if: !presence.isPresumed && presence.word != .unseen)
        field("last_seen", presence.lastSeen?.description)
        field("class", host.report?.internet?.linkClass?.rawValue)
        field(
            "labels",
            object: { $0.texts(host.labels) })
        field("groups", host.groups)
        field("address", host.connection?.address)
        field("gateway", host.report?.internet?.gateway)
        field("source", host.report?.internet?.source?.wireText)
        field("version", host.report?.version)
        field("behind", host.report.map { Int64(clamping: $0.behind) })
        field("dropped", host.report.map { Int64(clamping: $0.dropped) })
        field("queue_waiting", host.report.map { Int64(clamping: $0.queueWaiting) })
        field("queue_held", host.report?.queueHolds ?? [])
        field("desired", host.report.map { Int64(clamping: $0.desired) })
        field("clock_offset_ms", host.clockOffset.map { $0.nanoseconds / 1_000_000 })
        field("quiet", quiet)
        field("retired", host.retired?.description)
    }

    private mutating func grounds(_ presence: HostPresence, if isSo: Bool) {
        guard isSo else { return value(nil) }
        object {
            $0.field("since", presence.since?.description)
            $0.field("why", presence.why)
        }
    }

    /// An event of a host, for programs.
    package mutating func timelineEvent(_ event: TimelineEvent) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-event")
            json.field("host", event.host)
            json.field("log", event.event.log)
            json.field("n", Int64(clamping: event.event.n))
            json.field("time", event.time)
            json.field("host_time", event.hostTime?.description)
            json.field("clock", event.isHostClock ? "host" : "engine")
            json.field("stored", event.stored)
            json.field("sequence", Int64(clamping: event.sequence))
            json.key("event")
            json.value(event.event.json)
        }
    }
}
