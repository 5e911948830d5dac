package import ReachCore
internal import ReachRecords

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
    /// Why alerts about it are quiet; `nil` if they are not.
    package var quiet: String?
    /// Since when it is known, if that is later than what the page shows begins: a new host was not away before.
    package var known: Timestamp?
    /// The oldest first.
    package var timeline: [PageEvent] = []

    package init(id: String, _ presence: HostPresence) {
        self.id = id
        self.presence = presence
    }

    /// A host of the roster, as it stands now.
    package init(_ host: RosterHost, _ engine: EngineFacts) {
        self.init(id: host.id, host.presence(engine))
        labels = host.labels
        guard let report = host.report else { return }
        name = report.name
        linkClass = report.internet?.linkClass
        behind = max(report.behind, host.lease?.behind ?? 0)
        if report.hasConflict {
            note = RosterHost.conflict
        } else if report.dropped > 0 {
            note = "\(report.dropped) of its events are lost, since its outbox was full"
        }
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
    package init(_ event: TimelineEvent) {
        self.init(time: event.time, what: event.event.sentence)
        isHostClock = event.isHostClock
        hostTime = event.hostTime
        guard case .status(let status, _, _, _) = event.event.kind else { return }
        why =
            status.rootCause?.sentence ?? status.reason?.sentence
            ?? status.connectivityReason?.partialOutage?.sentence
        switch (status.status, status.connectivity) {
        case (.reachable, .portal), (.reachable, .limited): word = .limited
        case (.reachable, _): word = .here
        case (.notReachable, _): word = status.target == "internet" ? .silent : .limited
        case (.unknown, _): break
        }
    }
}
