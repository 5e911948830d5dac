package import ReachCore

/// The availability of a fleet within a window of time: of all hosts, of those with each label, and of each host.
package struct FleetReport: Sendable {
    package struct Host: Sendable {
        package let id: String
        package let name: String?
        package let labels: [String: String]
        package let availability: Availability
        package let past: HostPast
    }

    package struct Group: Sendable {
        package let label: String
        package let value: String
        package let hosts: [Int]
        package let availability: Availability
    }

    package let from: Timestamp
    package let to: Timestamp
    /// In the order of their identities.
    package let hosts: [Host]
    /// In the order of their labels and values.
    package let groups: [Group]
    package let all: Availability
    /// Those in which the hosts were; `nil` where only their own events were read, which show none of several hosts.
    package let outages: [Outage]?
    /// The known hosts by their places in outages.
    package let outageHosts: [String]

    /// - Parameters:
    ///   - history: What the streams hold of the window.
    ///   - isOfAll: Whether the history has what happened on all hosts.
    ///   - includes: Which hosts the report is about.
    package init(
        _ roster: Roster, _ history: FleetHistory, _ engine: EngineFacts, _ notes: OperatorNotes,
        from start: Timestamp, isOfAll: Bool = true, systems: ASNTable = ASNTable(),
        _ options: OutageOptions = OutageOptions(), includes: (RosterHost, HostPresence) -> Bool
    ) {
        let pasts = isOfAll ? history.pasts(of: roster, engine) : []
        let window = start.nanosecondsSince1970..<max(engine.now, start).nanosecondsSince1970
        let quiet = notes.quiet.map { ($0, $0.spans(in: window)) }
        var hosts: [Host] = []
        var chosen: Set<Int> = []
        for index in roster.hosts.indices.sorted(by: { roster.hosts[$0].id < roster.hosts[$1].id }) {
            let host = roster.hosts[index]
            let presence = host.presence(engine)
            guard includes(host, presence) else { continue }
            chosen.insert(index)
            let past = isOfAll ? pasts[index] : history.past(of: host, index, engine)
            hosts.append(
                Host(
                    id: host.id, name: host.report?.name, labels: host.labels,
                    availability: Availability(
                        past.absences, unknown: past.unknown, in: window,
                        quiet: quiet.flatMap { time, spans in time.covers(host, presence) ? spans : [] }),
                    past: past))
        }
        (self.hosts, from, to) = (hosts, start, engine.now)
        groups = Self.groups(hosts)
        all = hosts.reduce(into: Availability()) { $0.add($1.availability) }
        let found =
            isOfAll
            ? OutageFinder.find(pasts.sortedAbsences, among: history.members(of: roster), systems: systems, options)
            : nil
        outages = found?.filter { $0.members.contains(where: chosen.contains) }
        outageHosts = roster.hosts.map(\.id)
    }

    private static func groups(_ hosts: [Host]) -> [Group] {
        var members: [String: [String: [Int]]] = [:]
        for index in hosts.indices {
            for (name, value) in hosts[index].labels { members[name, default: [:]][value, default: []].append(index) }
        }
        return members.sorted { $0.key < $1.key }.flatMap { name, values in
            values.sorted { $0.key < $1.key }.map { value, indexes in
                Group(
                    label: name, value: value, hosts: indexes,
                    availability: indexes.reduce(into: Availability()) { $0.add(hosts[$1].availability) })
            }
        }
    }
}

extension FleetReport {
    /// Instead of a list of outages that nobody looked for.
    package static let outagesUnread =
        "not looked for: of a report about a few hosts only their own events are read; `reach-fleet outages` finds them"
}

extension JSONWriter {
    /// A report for programs.
    package mutating func fleetReport(_ report: FleetReport) {
        object { json in
            json.field("v", 1)
            json.field("type", "fleet-report")
            json.field("from", report.from)
            json.field("to", report.to)
            json.field("hosts", Int64(report.hosts.count))
            json.field("all", object: { $0.availability(report.all) })
            json.field(
                "labels",
                array: { json in
                    for group in report.groups {
                        json.object {
                            $0.field("label", group.label)
                            $0.field("value", group.value)
                            $0.field("hosts", Int64(group.hosts.count))
                            $0.field("of", object: { $0.availability(group.availability) })
                        }
                    }
                })
            json.field(
                "members",
                array: { json in
                    for host in report.hosts {
                        json.object {
                            $0.field("host", host.id)
                            $0.field("labels", object: { $0.texts(host.labels) })
                            $0.field("of", object: { $0.availability(host.availability) })
                        }
                    }
                })
            json.field(
                "outages",
                array: { json in for outage in report.outages ?? [] { json.outage(outage, hosts: report.outageHosts) } }
            )
            json.field("outages_read", report.outages != nil)
        }
    }

    private mutating func availability(_ times: Availability) {
        key("availability")
        if let share = times.share { value(share) } else { value(nil as String?) }
        field("up_ms", times.up.milliseconds)
        field("down_ms", times.down.milliseconds)
        field("presumed_ms", times.presumed.milliseconds)
        field("confirmed_ms", times.confirmed.milliseconds)
        field("unknown_ms", times.unknown.milliseconds)
        field("quiet_ms", times.quiet.milliseconds)
        field("outages", Int64(times.outages))
        field("longest_ms", times.longest.milliseconds)
    }
}
