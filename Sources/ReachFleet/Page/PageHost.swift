package import ReachCore

/// A host as the page shows it.
package struct PageHost: Hashable, Sendable {
    /// The states of a host, in the page's order.
    package enum Word: Int, Hashable, Sendable, CaseIterable {
        case here, limited, silent, left, unseen
    }

    package var id: String
    package var name: String?
    package var word: Word
    package var since: Timestamp?
    package var why: String?
    package var linkClass: String?
    package var labels: [String: String] = [:]
    package var lastSeen: Timestamp?
    package var behind: UInt64 = 0
    package var isPresumed = false
    /// A warning, such as that two machines use this identity.
    package var note: String?
    package var timeline: [PageEvent] = []

    package init(id: String, word: Word) {
        self.id = id
        self.word = word
    }
}

/// A line of a host's timeline.
package struct PageEvent: Hashable, Sendable {
    /// Corrected.
    package var time: Timestamp
    /// The word that the host was in afterwards; `nil` if the event does not say.
    package var word: PageHost.Word?
    package var what: String
    package var why: String?
    /// What the host's clock showed, if that is wrong.
    package var hostTime: Timestamp?
    /// Whether only the host's clock gives the time.
    package var isHostClock = false

    package init(time: Timestamp, word: PageHost.Word? = nil, what: String, why: String? = nil) {
        self.time = time
        self.word = word
        self.what = what
        self.why = why
    }
}
