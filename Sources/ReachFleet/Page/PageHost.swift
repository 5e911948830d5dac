package import ReachCore

/// A host as the page shows it.
package struct PageHost: Hashable, Sendable {
    package var id: String
    package var name: String?
    package var presence: HostPresence
    package var linkClass: LinkClass?
    package var labels: [String: String] = [:]
    /// Events that wait on the host.
    package var behind: UInt64 = 0
    /// A warning, such as that two machines use this identity.
    package var note: String?
    /// The oldest first.
    package var timeline: [PageEvent] = []

    package init(id: String, _ presence: HostPresence) {
        self.id = id
        self.presence = presence
    }

    /// A host of the roster, as it stands now.
    package init(_ host: RosterHost, _ engine: EngineFacts) {
        self.init(id: host.id, host.presence(engine))
        guard let report = host.report else { return }
        name = report.name
        linkClass = report.linkClass
        labels = report.labels
        behind = max(report.behind, host.lease?.behind ?? 0)
        if report.dropped > 0 { note = "\(report.dropped) of its events are lost, since its outbox was full" }
    }
}

/// A line of a host's timeline.
package struct PageEvent: Hashable, Sendable {
    /// By the engine's clock, unless ``isHostClock``.
    package var time: Timestamp
    /// The word that the host was in afterwards; `nil` if the event does not say.
    package var word: HostWord?
    package var what: String
    package var why: String?
    /// What the host's clock showed, if that is wrong.
    package var hostTime: Timestamp?
    /// Whether only the host's clock gives the time.
    package var isHostClock = false

    package init(time: Timestamp, word: HostWord? = nil, what: String, why: String? = nil) {
        self.time = time
        self.word = word
        self.what = what
        self.why = why
    }
}

extension PageEvent {
    /// An event of a host, in words.
    package init(_ event: FleetEvent, at time: Timestamp, isHostClock: Bool) {
        self.init(time: time, what: event.type)
        self.isHostClock = isHostClock
        let difference = Duration.nanoseconds(event.moment.wall.nanosecondsSince1970 &- time.nanosecondsSince1970)
        if !isHostClock, !RosterHost.isTolerable(difference) { hostTime = event.moment.wall }
        switch event.kind {
        case .status(let status, _, let cause, _): describe(status, cause)
        case .wake(let slept): what = "woke after \(DurationText.describe(slept)) of sleep"
        case .probe(let word, let name, _, let target, let reason):
            what = "probe \(name): \(word)"
            why = [target, reason].compactMap(\.self).joined(separator: ", ")
        case .queue(let word, let request, let reason):
            what = "queue: " + (request.map { "request \($0) " } ?? "") + word
            why = reason
        case .gap(let first, let last, let count, let reason):
            what = "\(count) of the events \(first) to \(last) are lost"
            why = reason
        case .other: break
        }
    }

    private mutating func describe(_ status: HostStatus, _ cause: Cause?) {
        let isInternet = status.target == "internet"
        switch (status.status, status.connectivity) {
        case (.reachable, .portal): (what, word) = ("behind a portal", .limited)
        case (.reachable, .limited): (what, word) = ("a path, but no answer from the Internet", .limited)
        case (.reachable, _): (what, word) = ("reachable", .here)
        case (.notReachable, _): (what, word) = ("not reachable", isInternet ? .silent : .limited)
        case (.unknown, _): what = "status unknown"
        }
        if let linkClass = status.linkClass, status.status == .reachable { what += " over \(linkClass.rawValue)" }
        if !isInternet { what = "\(status.target): \(what)" }
        let reason = status.reason.map(\.sentence)
        why = [reason, cause.map { "cause: \($0.rawValue)" }].compactMap(\.self).joined(separator: "; ")
    }
}
