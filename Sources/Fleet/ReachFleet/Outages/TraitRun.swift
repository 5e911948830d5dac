internal import ReachCore

/// Absences of hosts with the same trait, whose starts followed closely on one another.
struct TraitRun {
    let trait: Int
    /// Indexes among the absences, ascending, so by start.
    let absences: ArraySlice<Int>
    /// Distinct hosts.
    let affected: Int
    /// Hosts with the trait that were here when the run began, or are affected.
    let known: Int

    /// Hosts with the trait that did not go away.
    var stayed: Int { known - affected }

    /// Whether so many hosts of the trait make an outage.
    ///
    /// - Parameters:
    ///   - hosts: Those that went away.
    ///   - known: Those that were here before.
    static func suffices(_ hosts: Int, of known: Int, with trait: SharedTrait, _ options: OutageOptions) -> Bool {
        if trait.isLabel, hosts == known { return hosts >= min(options.leastHosts, OutageOptions.leastOfLabel) }
        return hosts >= options.leastHosts && hosts * 100 >= known * options.leastPercent
    }
}

/// Cuts the absences of each trait's hosts into runs, and keeps those in which enough hosts are affected.
struct TraitRuns {
    private let table: TraitTable
    private let options: OutageOptions
    private let starts: [Int64]
    private let ends: [Int64]
    /// The latest time at which each may have begun.
    private let latests: [Int64]
    private let members: [Int]
    private let areSwitchedOff: [Bool]
    /// For each absence the previous one of the same host; -1 for none.
    private let previous: [Int]

    init(_ absences: [Absence], _ table: TraitTable, _ options: OutageOptions) {
        self.table = table
        self.options = options
        starts = absences.map { $0.start?.nanosecondsSince1970 ?? .min }
        ends = absences.map { $0.end?.nanosecondsSince1970 ?? .max }
        latests = absences.map {
            ($0.start?.nanosecondsSince1970 ?? .min) &+ ($0.start == nil ? 0 : $0.vagueness.nanoseconds)
        }
        members = absences.map(\.member)
        areSwitchedOff = absences.map(\.isSwitchedOff)
        var latest: [Int: Int] = [:]
        previous = absences.indices.map { latest.updateValue($0, forKey: absences[$0].member) ?? -1 }
    }

    func all() -> [TraitRun] {
        let byStart = lists(inOrder: Array(starts.indices))
        let byEnd = lists(inOrder: ends.indices.filter { ends[$0] < .max }.sorted { ends[$0] < ends[$1] })
        return table.traits.indices.flatMap { runs(of: $0, byStart[$0], endings: byEnd[$0]) }
    }

    /// For each trait the absences of its hosts, in the given order.
    private func lists(inOrder order: [Int]) -> [[Int]] {
        var lists = [[Int]](repeating: [], count: table.traits.count)
        for index in order {
            for trait in table.ids(of: members[index]) { lists[trait].append(index) }
        }
        return lists
    }

    private func runs(of trait: Int, _ list: [Int], endings: [Int]) -> [TraitRun] {
        let least =
            table.traits[trait].isLabel
            ? min(options.leastHosts, OutageOptions.leastOfLabel) : options.leastHosts
        guard table.totals[trait] >= least else { return [] }
        var runs: [TraitRun] = []
        // Absences from before the window are no departures within it, but their hosts were not here.
        var position = list.firstIndex { starts[$0] > .min } ?? list.count
        var ended = 0
        while position < list.count {
            let end = endOfRun(in: list, from: position)
            defer { position = end }
            // Who was switched off is away, but no part of an outage.
            let departures = list[position..<end].filter { !areSwitchedOff[$0] }
            guard departures.count >= least else { continue }
            let first = starts[list[position]]
            while ended < endings.count, ends[endings[ended]] <= first { ended += 1 }
            // All absences before this one have begun, and those that have ended are among them.
            if let run = run(of: trait, departures[...], awayBefore: position - ended) { runs.append(run) }
        }
        return runs
    }

    private func endOfRun(in list: [Int], from position: Int) -> Int {
        let first = starts[list[position]]
        var last = first
        // All that went so far may have gone at one moment up to this.
        var common = latests[list[position]]
        var next = position + 1
        while next < list.count {
            let time = starts[list[next]]
            guard time <= max(last + options.within.nanoseconds, common), time - first <= options.longest.nanoseconds
            else { break }
            last = time
            common = min(common, latests[list[next]])
            next += 1
        }
        return next
    }

    private func run(of trait: Int, _ slice: ArraySlice<Int>, awayBefore: Int) -> TraitRun? {
        let first = starts[slice[slice.startIndex]]
        var hosts: Set<Int> = []
        var alreadyAway = 0
        for index in slice where hosts.insert(members[index]).inserted {
            // Such a host returned during the run and left again: it is affected, too.
            if previous[index] >= 0, ends[previous[index]] > first { alreadyAway += 1 }
        }
        let present = table.totals[trait] - awayBefore + alreadyAway
        guard TraitRun.suffices(hosts.count, of: present, with: table.traits[trait], options) else { return nil }
        return TraitRun(trait: trait, absences: slice, affected: hosts.count, known: present)
    }
}
