internal import ReachCore

extension AlertMachine {
    /// The hosts of a fleet, and when they were away: what outages, report and page show.
    package struct Fleet {
        let members: [FleetMember]
        /// The earliest first.
        let absences: [Absence]
        private let ofHosts: [String: [Absence]]

        package init(_ members: [FleetMember], _ absences: [Absence]) {
            (self.members, self.absences) = (members, absences)
            ofHosts = Dictionary(grouping: absences.lazy.filter { !$0.isSwitchedOff }) { members[$0.member].host }
        }

        package init(_ roster: Roster, _ history: FleetHistory, _ engine: EngineFacts) {
            self.init(history.members(of: roster), history.absences(of: roster, engine))
        }

        /// The absence that lasts; `nil` for a host that is here, was switched off, or may be reconnecting.
        func absence(of host: String) -> Absence? {
            ofHosts[host]?.last.flatMap { $0.end == nil ? $0 : nil }
        }

        /// The absences of a host that were not over before a time.
        func absences(of host: String, after time: Timestamp) -> [Absence] {
            (ofHosts[host] ?? []).filter { $0.end.map { $0 > time } ?? true }
        }
    }

    /// Hosts that went away together.
    struct Group {
        let outage: Outage
        let hosts: Set<String>

        /// Whether an absence of one of them belongs to it, and not to an earlier or a later outage.
        func has(_ absence: Absence) -> Bool {
            guard let start = absence.start else { return false }
            return start <= outage.last && outage.first <= start + absence.vagueness
        }
    }

    /// What hosts that went away have in common. Quiet ones count as here.
    func groups(_ fleet: Fleet, _ facts: Facts) -> [Group] {
        let absences = fleet.absences.filter { absence in
            let host = fleet.members[absence.member].host
            return absence.isSwitchedOff || troubles[host]?.alert != nil || !facts.isQuiet(host)
        }
        return OutageFinder.find(absences, among: fleet.members, options.outage).map { outage in
            Group(outage: outage, hosts: Set(outage.members.map { fleet.members[$0].host }))
        }
    }

    /// When the absences of an alert began, and the last of those that are over ended.
    func span(_ name: String, _ alert: Open, over: Set<String>, _ fleet: Fleet, _ facts: Facts)
        -> (since: Timestamp, over: Timestamp?)
    {
        let absences = alert.hosts.flatMap { fleet.absences(of: $0, after: alert.since) }
        let ends = over.compactMap { fleet.absences(of: $0, after: alert.since).last?.end }
        guard alert.shared != nil else {
            return (absences.compactMap(\.start).min() ?? alert.since, ends.max())
        }
        let group = groups(fleet, facts).first { group in
            Self.name(AlertShare(group.outage.extent)) == name && absences.contains(where: group.has)
        }
        return (group?.outage.first ?? alert.since, ends.max())
    }

    static func name(_ share: AlertShare) -> String { share.by == "fleet" ? "fleet" : "\(share.by)=\(share.value)" }
}
