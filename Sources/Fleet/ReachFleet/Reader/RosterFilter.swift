package import ReachCore

/// Which hosts a reader wants to see.
package struct RosterFilter: Hashable, Sendable {
    /// Which hosts, whatever their word.
    package var query = HostQuery.all
    package var linkClass: LinkClass?
    /// Only those that are not online.
    package var isOffline = false

    package init() {}

    package var isEmpty: Bool { query == .all && linkClass == nil && !isOffline }

    package func includes(_ host: RosterHost, _ presence: HostPresence) -> Bool {
        if isOffline, !presence.word.isAway, presence.word != .unseen { return false }
        if let linkClass, host.report?.linkClass != linkClass { return false }
        return query.includes(host, presence)
    }
}

/// How many hosts have each word.
package struct RosterTotals: Hashable, Sendable {
    package private(set) var counts: [HostWord: Int] = [:]
    package var total: Int { counts.values.reduce(0, +) }

    package init() {}

    package mutating func add(_ word: HostWord) { counts[word, default: 0] += 1 }

    /// `3 hosts: 2 online, 1 silent`.
    package var sentence: String {
        let words = HostWord.allCases.compactMap { word in counts[word].map { "\($0) \(word.shown)" } }
        let hosts = "\(total) host\(total == 1 ? "" : "s")"
        return words.isEmpty ? hosts : "\(hosts): \(words.joined(separator: ", "))"
    }
}
