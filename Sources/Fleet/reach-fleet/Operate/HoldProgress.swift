internal import ReachCore
internal import ReachFleet
internal import ReachFleetLink

/// The hosts and groups of the operator's list, as `setup` stored it.
struct HoldTargets {
    /// Each host's groups.
    private var groups: [String: [String]] = [:]

    init(_ jetStream: JetStream) throws(NATSError) {
        var groups: [String: [String]] = [:]
        do throws(NATSError) {
            try jetStream.entries(of: HostList.bucket) { entry in
                groups[entry.key] = entry.value.flatMap { HostList.entry(entry.key, $0) }?.groups
            }
        } catch {
            // Without a list anything may be a host or a group.
            guard error.kind == .notFound || error.kind == .notPermitted else { throw error }
        }
        self.groups = groups
    }

    /// Whether a list is stored.
    var isKnown: Bool { !groups.isEmpty }

    func contains(_ host: String, in group: String) -> Bool { groups[host]?.contains(group) ?? false }

    /// What is wrong with a name; `nil` if it is in the list, or there is none.
    func fault(_ name: String, isGroup: Bool) -> String? {
        guard isKnown else { return nil }
        let known = isGroup ? Set(groups.values.joined()) : Set(groups.keys)
        guard !known.contains(name) else { return nil }
        let what = isGroup ? "no host of the list is in group '\(name)'" : "no host of the list is called '\(name)'"
        return what + NearestWord.hint(for: name, among: known.sorted())
    }
}

/// How far the hosts are with what the operator wants.
struct HoldProgress {
    /// The hosts that it is for and that have reported, those of them that accept it, and those that have applied it.
    private(set) var concerned = 0
    private(set) var accepting = 0
    private(set) var applied = 0
    /// Hosts that the list has in the group, and whose own configuration does not.
    private(set) var outside = 0
    /// Hosts that have said goodbye, or never reported, and apply it when they are back.
    private(set) var away = 0

    var isComplete: Bool { accepting > 0 && applied >= accepting }

    init(
        _ document: DesiredState, _ revision: UInt64, host: String?, group: String?, _ list: HoldTargets,
        _ jetStream: JetStream
    ) throws(NATSError) {
        var roster = Roster()
        try jetStream.entries(of: FleetNames.state, filter: host) { entry in
            roster.apply(state: entry.value, of: entry.key, storedAt: entry.time)
        }
        for host in roster.hosts where document.includes(host: host.id) {
            guard let report = host.report else { continue }
            if let group {
                let isOwn = report.groups.contains(group)
                guard list.isKnown ? list.contains(host.id, in: group) : isOwn else { continue }
                if !isOwn { outside += 1 }
            }
            concerned += 1
            guard report.acceptsHolds, group.map(report.groups.contains) ?? true
            else {
                continue
            }
            accepting += 1
            if report.desired >= revision { applied += 1 }
            if report.left != nil { away += 1 }
        }
    }

    var sentence: String {
        var words = "applied by \(applied) of \(accepting) hosts"
        let refusing = concerned - accepting - outside
        if refusing > 0 { words += "; \(refusing) accept no holds ('accept' in their reach-fleet.toml)" }
        if outside > 0 { words += "; \(outside) of the group do not name it ('groups' in their reach-fleet.toml)" }
        if applied < accepting, away > 0 { words += "; \(away) said goodbye and apply it when they are back" }
        return words
    }
}
