package import ReachCore

/// A message about hosts that are away, for people who are called by it.
package struct AlertMessage: Hashable, Sendable {
    package enum Event: String, CaseIterable, Hashable, Sendable {
        /// Hosts are lost.
        case down
        /// They are back.
        case up
        /// They come and go, and the messages about that are joined from now on.
        case flapping
        /// They no longer do.
        case steady
        /// They are still lost, and no one has acknowledged it.
        case reminder
        /// They are still lost, no one has acknowledged it, and the next person is called.
        case escalation
    }

    /// What it is about: the same in all messages about one trouble.
    package let alert: String
    package let event: Event
    package let hosts: [String]
    package let shared: AlertShare?
    package let since: Timestamp
    /// When it was over.
    package let over: Timestamp?
    /// How often the hosts went away, while they flap.
    package let changes: Int?
    /// Who has acknowledged it.
    package let acknowledged: String?
    /// How many more persons are called about it by now, besides the first.
    package let level: Int
    package let sentence: [SentencePiece]

    package init(
        alert: String, _ event: Event, hosts: [String], shared: AlertShare? = nil, since: Timestamp,
        over: Timestamp? = nil, changes: Int? = nil, acknowledged: String? = nil, level: Int = 0,
        sentence: [SentencePiece]
    ) {
        self.alert = alert
        self.event = event
        self.hosts = hosts
        self.shared = shared
        self.since = since
        self.over = over
        self.changes = changes
        self.acknowledged = acknowledged
        self.level = level
        self.sentence = sentence
    }

    /// Whether one of the persons hears of it: the first is 0. Those who were called hear of all that follows, and of
    /// an escalation only who is called by it.
    package func concerns(_ person: Int) -> Bool { event == .escalation ? person == level : person <= level }

    package var lasted: Duration? { over.map { since.duration(to: $0) } }
}

/// What the hosts of an alert have in common.
package struct AlertShare: Hashable, Sendable {
    package var by: String
    package var value: String
    /// What follows "hosts" in a sentence.
    package var phrase: String
    package var affected: Int
    package var known: Int

    package init(by: String, value: String, phrase: String, affected: Int, known: Int) {
        self.by = by
        self.value = value
        self.phrase = phrase
        self.affected = affected
        self.known = known
    }

    package init(_ extent: Outage.Extent) {
        self.init(
            by: extent.trait.name, value: extent.trait.value, phrase: extent.trait.phrase, affected: extent.affected,
            known: extent.known)
    }
}

/// A length of time in words for a message: `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`.
package enum TimeWords {
    package static func describe(_ duration: Duration) -> String {
        let seconds = max(0, duration.components.seconds)
        switch seconds {
        case ..<120: return "\(seconds) s"
        case ..<7200: return "\(seconds / 60) min"
        case ..<172_800: return "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: return "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }
}

extension JSONWriter {
    /// An alert's message for programs.
    ///
    /// - Parameter sentence: The message's sentence with its times written.
    package mutating func alert(_ message: AlertMessage, sentence: String) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-alert")
            json.field("alert", message.alert)
            json.field("event", message.event.rawValue)
            json.field("sentence", sentence)
            json.field("hosts", message.hosts)
            if let shared = message.shared {
                json.field(
                    "shared",
                    object: {
                        $0.field("by", shared.by)
                        $0.field("value", shared.value)
                        $0.field("affected", Int64(shared.affected))
                        $0.field("known", Int64(shared.known))
                    })
            } else {
                json.field("shared", nil as String?)
            }
            json.field("since", message.since)
            json.field("over", message.over?.description)
            json.field("lasted_ms", message.lasted.map { $0.nanoseconds / 1_000_000 })
            json.field("changes", message.changes.map { Int64($0) })
            json.field("acknowledged", message.acknowledged)
            json.field("level", Int64(message.level))
        }
    }
}
