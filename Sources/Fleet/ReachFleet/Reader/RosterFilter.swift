package import ReachCore

/// Which hosts a reader wants to see.
package struct RosterFilter: Hashable, Sendable {
    /// Labels and the values that they must have.
    package var labels: [String: String] = [:]
    package var linkClass: LinkClass?
    /// Only those that are not here.
    package var isOffline = false
    /// One host.
    package var host: String?

    package init() {}

    package var isEmpty: Bool { labels.isEmpty && linkClass == nil && !isOffline && host == nil }

    package func includes(_ host: RosterHost, _ presence: HostPresence) -> Bool {
        if isOffline, !presence.word.isAway, presence.word != .unseen { return false }
        return includes(host)
    }

    /// Whether it is one of the hosts, whatever its word.
    package func includes(_ host: RosterHost) -> Bool {
        if let id = self.host, id != host.id { return false }
        if let linkClass, host.report?.linkClass != linkClass { return false }
        return labels.allSatisfy { host.report?.labels[$0.key] == $0.value }
    }
}

/// How many hosts have each word.
package struct RosterTotals: Hashable, Sendable {
    package private(set) var counts: [HostWord: Int] = [:]
    package var total: Int { counts.values.reduce(0, +) }

    package init() {}

    package mutating func add(_ word: HostWord) { counts[word, default: 0] += 1 }

    /// `3 hosts: 2 here, 1 silent`.
    package var sentence: String {
        let words = HostWord.allCases.compactMap { word in counts[word].map { "\($0) \(word.rawValue)" } }
        let hosts = "\(total) host\(total == 1 ? "" : "s")"
        return words.isEmpty ? hosts : "\(hosts): \(words.joined(separator: ", "))"
    }
}
