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
        if let linkClass, host.report?.internet?.linkClass != linkClass { return false }
        return query.includes(host, presence)
    }
}

/// How many hosts have each word.
package struct RosterTotals: Hashable, Sendable {
    package private(set) var counts: [HostWord: Int] = [:]
    /// Those of the limited ones of which only a target or probe is down.
    private var degraded = 0
    package var total: Int { counts.values.reduce(0, +) }

    package init() {}

    package mutating func add(_ presence: HostPresence) {
        add(presence.word)
        if presence.isDegraded { degraded += 1 }
    }

    package mutating func add(_ word: HostWord) { counts[word, default: 0] += 1 }

    /// `3 hosts: 2 online, 1 silent`.
    package var sentence: String { sentence(of: "host") }

    package func sentence(of noun: String) -> String {
        let words = HostWord.allCases.flatMap { word in
            word == .limited
                ? [((counts[word] ?? 0) - degraded, word.shown), (degraded, HostPresence.degraded)]
                : [(counts[word] ?? 0, word.shown)]
        }.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        let all = "\(total) \(noun)\(total == 1 ? "" : "s")"
        return words.isEmpty ? all : "\(all): \(words.joined(separator: ", "))"
    }
}
