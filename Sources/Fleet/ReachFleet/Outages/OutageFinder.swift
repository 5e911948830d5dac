package import ReachCore

/// Finds what went down together, and what those hosts have in common.
///
/// For each trait the absences of its hosts are cut into runs where the time between two exceeds
/// ``OutageOptions/within``. (Cutting the absences of all hosts instead would join everything in a large fleet, where
/// some host goes away every second.) A run in which enough of the trait's hosts are affected explains these absences.
/// Of the runs that explain the same ones, that one is an outage which is right about most hosts: the affected ones
/// that no other outage explains, less those with the trait that stayed; of equals, the most specific. So the outage of
/// a provider is one outage, and not one for each of its sites. The other traits are named with it.
package struct OutageFinder {
    private let absences: [Absence]
    private let table: TraitTable
    private let options: OutageOptions
    private let runs: [TraitRun]
    /// For each absence the outage that explains it; -1 for none.
    private var explanation: [Int]
    private var chosen: [Int] = []
    private var others: [[Int]] = []

    /// - Parameters:
    ///   - absences: The earliest first; those of one host do not overlap.
    ///   - members: The known hosts.
    /// - Returns: The outages, the earliest first.
    package static func find(
        _ absences: [Absence], among members: [FleetMember], systems: ASNTable = ASNTable(),
        _ options: OutageOptions = OutageOptions()
    ) -> [Outage] {
        var finder = OutageFinder(absences, TraitTable(members, by: options.by, systems: systems), options)
        finder.choose()
        return finder.chosen.indices.map(finder.outage).sorted {
            ($0.first, $0.extent.trait.rank, $0.members[0]) < ($1.first, $1.extent.trait.rank, $1.members[0])
        }
    }

    private init(_ absences: [Absence], _ table: TraitTable, _ options: OutageOptions) {
        self.absences = absences
        self.table = table
        self.options = options
        runs = TraitRuns(absences, table, options).all()
        explanation = Array(repeating: -1, count: absences.count)
    }

    // MARK: - The best explanations

    /// Chooses runs, the best first. What a run explains beyond those chosen before only shrinks, so a run is judged
    /// again when its turn comes and, if others have explained some of it, gets a later turn.
    private mutating func choose() {
        var turns: [Int: [Int]] = [:]
        for (index, run) in runs.enumerated() { turns[run.affected - run.stayed, default: []].append(index) }
        var gain = turns.keys.max() ?? 0
        while !turns.isEmpty {
            for index in (turns.removeValue(forKey: gain) ?? []).sorted(by: isMoreSpecific) {
                let remaining = unexplainedHosts(of: runs[index])
                if !suffices(remaining, for: runs[index]) {
                    nameOther(index)
                } else if remaining - runs[index].stayed < gain {
                    turns[remaining - runs[index].stayed, default: []].append(index)
                } else {
                    accept(index)
                }
            }
            gain -= 1
        }
    }

    private func isMoreSpecific(_ left: Int, _ right: Int) -> Bool {
        func key(_ index: Int) -> (Int, Int, Int, Int) {
            let run = runs[index]
            return (table.traits[run.trait].rank, run.known, run.absences[run.absences.startIndex], index)
        }
        return key(left) < key(right)
    }

    private func unexplainedHosts(of run: TraitRun) -> Int {
        var hosts: Set<Int> = []
        for index in run.absences where explanation[index] < 0 { hosts.insert(absences[index].member) }
        return hosts.count
    }

    /// Whether the hosts that others do not explain would be an outage without them.
    private func suffices(_ remaining: Int, for run: TraitRun) -> Bool {
        // Of few hosts with a label all are needed.
        TraitRun.suffices(
            remaining, of: max(run.stayed + remaining, run.affected < options.leastHosts ? run.affected : 0),
            with: table.traits[run.trait], options)
    }

    private mutating func accept(_ index: Int) {
        for absence in runs[index].absences where explanation[absence] < 0 { explanation[absence] = chosen.count }
        chosen.append(index)
        others.append([])
    }

    /// Names a run with the outage that explains most of it.
    private mutating func nameOther(_ index: Int) {
        var counts: [Int: Int] = [:]
        for absence in runs[index].absences where explanation[absence] >= 0 {
            counts[explanation[absence], default: 0] += 1
        }
        guard table.traits[runs[index].trait] != .fleet,
            let most = counts.max(by: { ($0.value, -$0.key) < ($1.value, -$1.key) })
        else { return }
        others[most.key].append(index)
    }

    // MARK: - What became of it

    private func outage(_ number: Int) -> Outage {
        let run = runs[chosen[number]]
        // A host that went away twice during the outage counts once, by its last absence.
        var latest: [Int: Absence] = [:]
        for index in run.absences { latest[absences[index].member] = absences[index] }
        let returns = latest.values.compactMap(\.end)
        let confirmed = latest.values.filter { $0.evidence == .confirmed }
        let (first, firstBy, last) = Self.span(run.absences.map { absences[$0] })
        return Outage(
            extent: extent(of: run), others: others[number].sorted(by: isMoreSpecific).map { extent(of: runs[$0]) },
            members: latest.keys.sorted(), first: first, last: last, firstBy: firstBy, confirmed: confirmed.count,
            reason: Self.common(confirmed.compactMap(\.reason), of: confirmed.count), back: returns.count,
            firstBack: returns.min(), lastBack: returns.max())
    }

    /// When the first and the last went, as close together as what is known of each allows. Hosts of which the server
    /// had only a last word may all have gone when the last of these words came, so that the power cut of a shop is
    /// known more exactly than that of one host.
    private static func span(_ absences: [Absence]) -> (first: Timestamp, firstBy: Timestamp, last: Timestamp) {
        let starts = absences.compactMap(\.start)
        let latest = absences.compactMap { absence in absence.start.map { $0 + absence.vagueness } }
        guard let last = starts.max(), let firstBy = latest.min() else { preconditionFailure("a run of no departure") }
        return (min(firstBy, last), firstBy, last)
    }

    private func extent(of run: TraitRun) -> Outage.Extent {
        Outage.Extent(trait: table.traits[run.trait], affected: run.affected, known: run.known)
    }

    private static func common(_ reasons: [Reason], of count: Int) -> Reason? {
        var counts: [Reason: Int] = [:]
        for reason in reasons { counts[reason, default: 0] += 1 }
        return counts.first { $0.value * 2 > count }?.key
    }
}

/// What counts as an outage.
package struct OutageOptions: Hashable, Sendable {
    /// The longest time between two departures of one outage.
    package var within: Duration = .seconds(5)
    /// The traits that are compared.
    package var by = TraitChoice.all
    /// An outage concerns at least this many hosts. Fewer coincide by chance.
    package var leastHosts = 5
    /// All hosts with a label are an outage from this number on: the operator has said that they belong together.
    package static let leastOfLabel = 2
    /// And at least this many of a hundred that have the trait.
    package var leastPercent = 50
    /// The longest time from the first departure to the last, so that the steady coming and going in a large fleet is
    /// no outage. Leases of hosts that vanish together end within one lease of each other.
    package var longest: Duration = .seconds(600)

    package init() {}
}

/// What a host may have in common with others that go away at the same time.
package struct FleetMember: Hashable, Sendable {
    package let host: String
    /// The first hop of its path to the Internet, as the host reports it.
    package let gateway: IPAddress?
    /// The address from which it connected, as the engine saw it.
    package let address: IPAddress?
    package let labels: [String: String]
    /// The class of the link that carries its path, as a word: `wifi`.
    package let linkClass: String?

    package init(
        host: String, gateway: IPAddress? = nil, address: IPAddress? = nil, labels: [String: String] = [:],
        linkClass: String? = nil
    ) {
        self.host = host
        self.gateway = gateway
        self.address = address
        self.labels = labels
        self.linkClass = linkClass
    }
}

extension FleetMember {
    /// A host of the roster.
    ///
    /// - Parameter address: Where it connected from, if the roster does not say.
    package init(_ host: RosterHost, address: IPAddress? = nil) {
        self.init(
            host: host.id, gateway: host.report?.internet?.gateway, address: host.connection?.address ?? address,
            labels: host.labels, linkClass: host.report?.internet?.linkClass?.rawValue)
    }
}
