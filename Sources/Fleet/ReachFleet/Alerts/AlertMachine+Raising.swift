internal import ReachCore

extension AlertMachine {
    /// Raises alerts about hosts that have been away for long enough.
    mutating func raise(_ now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        let due = Set(
            troubles.filter { id, trouble in
                trouble.alert == nil && trouble.back == nil && trouble.due(options.wait) <= now
                    && !facts.isQuiet(id)
            }.keys)
        guard !due.isEmpty else { return [] }
        let fleet = facts.fleet()
        var messages: [AlertMessage] = []
        var rest = due.filter { counts($0, fleet) }
        for group in groups(fleet, facts) where group.outage.isOpen && !rest.isEmpty {
            // Whoever is away by the outage.
            let hosts = group.hosts.filter { id in
                troubles[id].map { $0.back == nil } ?? false && fleet.absence(of: id).map(group.has) ?? false
            }
            guard !rest.isDisjoint(with: hosts) else { continue }
            if let message = raise(group, hosts, now) { messages.append(message) }
            rest.subtract(hosts)
        }
        return messages + raiseSingle(rest.sorted(), now, fleet)
    }

    /// Whether outages and report have what somebody is called about. That the Internet is there, and something else
    /// is not, is no absence.
    func counts(_ id: String, _ fleet: Fleet) -> Bool {
        troubles[id]?.word == .limited || fleet.absence(of: id) != nil
    }

    /// Raises an alert about an outage, or adds hosts to the one that reported it.
    ///
    /// - Returns: `nil` if there is nothing to say: the outage is known, and not much larger than it was.
    private mutating func raise(_ group: Group, _ hosts: Set<String>, _ now: Timestamp) -> AlertMessage? {
        let outage = group.outage
        let shared = AlertShare(outage.extent)
        let name = Self.name(shared)
        let known = open[name]
        // Hosts that were reported alone belong to it now.
        var joined = known.map { [$0] } ?? []
        for (other, alert) in open where other != name && alert.hosts.isSubset(of: hosts) {
            joined.append(alert)
            open[other] = nil
        }
        let all = hosts.union(known?.hosts ?? [])
        // More hosts show better when all of them went, unless those of before went earlier.
        let earlier = known.flatMap { group.hosts.isSuperset(of: $0.hosts) ? nil : $0.since }
        open[name] = Open(
            hosts: all, shared: shared, since: min(outage.first, earlier ?? outage.first),
            reported: known?.reported ?? now, raised: joined.map(\.raised).min() ?? now,
            level: joined.map(\.level).max() ?? 0)
        for id in hosts { troubles[id]?.alert = name }
        hasChanged = true
        if let known, all.count < known.hosts.count * 2 { return nil }
        open[name]?.reported = now
        let message = AlertMessage(
            alert: name, .down, hosts: hosts.sorted(), shared: shared, since: outage.first,
            level: open[name]?.level ?? 0, sentence: outage.sentence)
        return known == nil ? count(message, now) : message
    }

    private mutating func raiseSingle(_ hosts: [String], _ now: Timestamp, _ fleet: Fleet) -> [AlertMessage] {
        let messages = hosts.compactMap { id -> AlertMessage? in
            guard let trouble = troubles[id] else { return nil }
            let since = fleet.absence(of: id)?.start ?? trouble.since
            troubles[id]?.alert = id
            open[id] = Open(hosts: [id], shared: nil, since: since, reported: now)
            hasChanged = true
            let why = trouble.why.map { ": \($0)" } ?? ""
            let message = AlertMessage(
                alert: id, .down, hosts: [id], since: since,
                sentence: [
                    .words("\(Self.title(id, trouble.name)) is \(trouble.shown) since "), .time(since),
                    .words(why),
                ])
            return count(message, now)
        }
        guard messages.count > options.mostMessages, let first = messages.map(\.since).min() else { return messages }
        let names = messages.flatMap(\.hosts)
        for name in names { open[name]?.told = .init(name: Self.several, time: now) }
        return [
            AlertMessage(
                alert: Self.several, .down, hosts: names, since: first,
                sentence: [
                    .words("\(Self.list(names)) are away, without anything in common, the first since "), .time(first),
                ])
        ]
    }

    /// Counts an alert among those about the same. The one too many says that they flap, and those after it say
    /// nothing.
    private mutating func count(_ message: AlertMessage, _ now: Timestamp) -> AlertMessage? {
        raised[message.alert, default: []].append(now)
        if flapping[message.alert] != nil {
            flapping[message.alert]?.count += 1
            flapping[message.alert]?.changed = message.since
            return nil
        }
        let times = (raised[message.alert] ?? []).filter { $0 > now + (.zero - options.flapTime) }
        guard times.count >= options.flaps, let first = times.first else { return message }
        flapping[message.alert] = Flapping(
            since: first, count: times.count, changed: message.since, hosts: message.hosts, shared: message.shared)
        return AlertMessage(
            alert: message.alert, .flapping, hosts: message.hosts, shared: message.shared, since: first,
            changes: times.count, level: message.level,
            sentence: [
                .words(
                    "\(subject(message.hosts, shared: message.shared)) flapping: away for the \(Self.ordinal(times.count)) time "
                        + "within \(TimeWords.describe(first.duration(to: now))); the next message comes when "
                        + "nothing has changed for \(TimeWords.describe(options.calm))")
            ])
    }

    // MARK: - Sentences

    func upSentence(_ back: [String], _ alert: Open, _ lasted: Duration, _ late: [String]) -> [SentencePiece] {
        let lasted = TimeWords.describe(lasted)
        var words: String
        if let shared = alert.shared {
            words = "\(back.count) of \(alert.hosts.count) hosts\(shared.phrase) are back after \(lasted)"
        } else if let id = back.first, back.count == 1 {
            let trouble = troubles[id]
            let title = Self.title(id, trouble?.name)
            words =
                trouble?.word == .left
                ? "\(title) said goodbye after \(lasted)" : "\(title) is back after \(lasted)"
            if trouble?.word == .limited { words += ", with trouble" }
        } else {
            words = "\(Self.list(back)) are back after \(lasted)"
        }
        if !late.isEmpty { words += "; \(Self.list(late)) \(late.count == 1 ? "is" : "are") still away" }
        return [.words(words)]
    }

    func subject(_ hosts: [String], _ alert: Open) -> String { subject(hosts, shared: alert.shared) }

    /// `till-1 is`, `8 hosts with site=berlin-7 are`.
    func subject(_ hosts: [String], shared: AlertShare?) -> String {
        if let shared { return "\(hosts.count) hosts\(shared.phrase) are" }
        guard hosts.count == 1 else { return "\(Self.list(hosts)) are" }
        return "\(Self.title(hosts[0], troubles[hosts[0]]?.name)) is"
    }

    static func title(_ id: String, _ name: String?) -> String { name.map { "\($0) (\(id))" } ?? id }

    /// `a, b and c`; of more than five the first three.
    static func list(_ hosts: [String]) -> String {
        guard hosts.count > 5 else { return hosts.listed }
        return "\(hosts.count) hosts (\(hosts.prefix(3).joined(separator: ", ")) and \(hosts.count - 3) more)"
    }

    private static func ordinal(_ number: Int) -> String {
        switch number {
        case 1: "first"
        case 2: "second"
        case 3: "third"
        default: "\(number)th"
        }
    }
}
