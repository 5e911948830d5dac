package import ReachCore

/// When somebody is called, and how often.
package struct AlertOptions: Hashable, Sendable {
    /// How long a host has to be away, from the engine's last word of it, and never so short that its absence counts
    /// for nothing in a report. Where leases are so long that its absence is noticed later than that, it counts from
    /// then: those of hosts that vanished together end within one lease of each other, and a shorter time makes more
    /// messages of one outage.
    package var wait: Duration = .seconds(120)
    /// How long it has to be back.
    package var settle: Duration = .seconds(60)
    /// How often an alert is repeated that no one has acknowledged; `nil` for never.
    package var reminder: Duration?
    /// How long after an alert, while no one has acknowledged it, the next persons are called, the first first.
    package var escalations: [Duration] = []
    /// Whether a host that is connected and has trouble counts as away.
    package var includesLimited = false
    /// As many alerts about the same within this time are flapping.
    package var flaps = 3
    package var flapTime: Duration = .seconds(3600)
    /// Who flaps is steady after this time without a change.
    package var calm: Duration = .seconds(1800)
    /// What counts as one outage.
    package var outage = OutageOptions()
    /// More hosts that went away at one time, without anything in common, are one message.
    package var mostMessages = 5

    package init() {}
}

/// Decides about which absences of hosts somebody is called: once for hosts that went away together, once more when
/// they are back, and never in a time without alerts.
///
/// Feed it the changes of hosts' words, and call ``tick(_:_:)`` now and then. What was an absence, and when it began
/// and ended, it reads where outages and reports do. A return is reported if and only if the absence was.
package struct AlertMachine: Sendable {
    /// What the machine asks its owner.
    package struct Facts {
        /// The hosts and when they were away; asked when hosts are due, and when an alert is over.
        package var fleet: () -> Fleet
        /// Whether alerts about a host are quiet.
        package var isQuiet: (String) -> Bool
        /// That of an alert about these hosts.
        package var acknowledgement: (String, Set<String>) -> Acknowledgement?

        package init(
            fleet: @escaping () -> Fleet, isQuiet: @escaping (String) -> Bool = { _ in false },
            acknowledgement: @escaping (String, Set<String>) -> Acknowledgement? = { _, _ in nil }
        ) {
            self.fleet = fleet
            self.isQuiet = isQuiet
            self.acknowledgement = acknowledgement
        }
    }

    /// A host that is away, or not yet safely back.
    struct Trouble: Hashable, Sendable {
        var since: Timestamp
        /// When the watch noticed it.
        var noticed: Timestamp
        var vagueness: Duration
        /// After this outages and reports have it, whenever the host is back.
        var counts: Timestamp
        var word: HostWord
        /// The word for people.
        var shown: String
        var name: String?
        var why: String?
        /// When it returned, and as what; `nil` while it is away.
        var back: Timestamp?
        /// The alert that reported it; `nil` if none did.
        var alert: String?

        /// When somebody is called about it.
        func due(_ wait: Duration) -> Timestamp {
            let isNoticedInTime = vagueness * HostLease.patience + RosterHost.leaseGrace <= wait
            let due = (word == .silent && isNoticedInTime ? since : noticed) + wait
            return word == .silent ? max(due, counts + .nanoseconds(1)) : due
        }
    }

    /// An alert that is not over.
    struct Open: Hashable, Sendable {
        var hosts: Set<String>
        var shared: AlertShare?
        var since: Timestamp
        var reported: Timestamp
        /// When it was first reported.
        var raised: Timestamp
        /// How many of ``AlertOptions/escalations`` have been.
        var level = 0
        /// The message that spoke of it under another name.
        var told: Told?

        /// Since when somebody can have acknowledged an alert of that name and meant this one.
        struct Told: Hashable, Sendable {
            let name: String
            let time: Timestamp
        }

        init(
            hosts: Set<String>, shared: AlertShare?, since: Timestamp, reported: Timestamp, raised: Timestamp? = nil,
            level: Int = 0
        ) {
            (self.hosts, self.shared, self.since, self.reported) = (hosts, shared, since, reported)
            (self.raised, self.level) = (raised ?? reported, level)
        }
    }

    /// Alerts about the same that come again and again.
    struct Flapping: Hashable, Sendable {
        var since: Timestamp
        var count: Int
        var changed: Timestamp
        var hosts: [String]
        var shared: AlertShare?
    }

    /// The names of messages about hosts that have nothing in common: those that were away when a watch began, and many
    /// at one time.
    package static let start = "start"
    package static let several = "several"

    let options: AlertOptions
    var troubles: [String: Trouble] = [:]
    var open: [String: Open] = [:]
    /// When alerts were raised, by their names, within ``AlertOptions/flapTime``.
    var raised: [String: [Timestamp]] = [:]
    var flapping: [String: Flapping] = [:]
    /// What changed since it was written down.
    package internal(set) var hasChanged = false

    package init(_ options: AlertOptions = AlertOptions()) { self.options = options }

    // MARK: - Feeding it

    /// A host's word changed, or was first heard of.
    package mutating func apply(_ host: RosterHost, _ presence: HostPresence, at now: Timestamp) {
        guard isAway(presence.word) else { return returned(host.id, presence, now) }
        if troubles[host.id] != nil {
            // Away again before its return was safe: the same absence. Or another word for it.
            troubles[host.id]?.back = nil
            troubles[host.id]?.word = presence.word
            troubles[host.id]?.shown = presence.shown
            troubles[host.id]?.why = presence.why
            return
        }
        troubles[host.id] = Trouble(
            since: min(presence.since ?? now, now), noticed: now, vagueness: host.vagueness,
            counts: host.countsFrom(presence) ?? now, word: presence.word,
            shown: presence.shown, name: host.report?.name, why: presence.why)
    }

    private mutating func returned(_ id: String, _ presence: HostPresence, _ now: Timestamp) {
        guard let trouble = troubles[id], trouble.back == nil else { return }
        guard trouble.alert != nil else {
            troubles[id] = nil
            return
        }
        troubles[id]?.back = now
        troubles[id]?.word = presence.word
    }

    /// A host that nobody asks about any more.
    package mutating func forget(_ host: String) {
        troubles[host] = nil
        for (name, alert) in open where alert.hosts.contains(host) {
            open[name]?.hosts.remove(host)
            if open[name]?.hosts.isEmpty == true { open[name] = nil }
            hasChanged = true
        }
    }

    func isAway(_ word: HostWord) -> Bool { word == .silent || (options.includesLimited && word == .limited) }

    /// What the watch found when it began. Hosts that were away before are one message, unless alerts that were kept
    /// have them.
    package mutating func begin(at now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        for (id, trouble) in troubles where trouble.alert == nil {
            if let name = open.first(where: { $0.value.hosts.contains(id) })?.key {
                troubles[id]?.alert = name
            }
        }
        // What came back while no one watched.
        for (name, alert) in open {
            for id in alert.hosts where troubles[id] == nil {
                troubles[id] = Trouble(
                    since: alert.since, noticed: alert.reported, vagueness: .zero, counts: alert.reported, word: .here,
                    shown: HostWord.here.shown, name: nil, why: nil,
                    back: now, alert: name)
            }
        }
        guard troubles.contains(where: { $0.value.alert == nil }) else { return [] }
        let fleet = facts.fleet()
        let away = troubles.filter { $0.value.alert == nil && counts($0.key, fleet) }.keys.sorted()
        guard !away.isEmpty else { return [] }
        let starts = away.map { fleet.absence(of: $0)?.start ?? troubles[$0]?.since ?? now }
        let since = starts.min() ?? now
        for (id, start) in zip(away, starts) { hold(id, start, now, .init(name: Self.start, time: now)) }
        return [
            AlertMessage(
                alert: Self.start, .down, hosts: away, since: since,
                sentence: [
                    .words(
                        "\(Self.list(away)) \(away.count == 1 ? "was" : "were") away when this watch began, the first since "
                    ),
                    .time(since),
                ])
        ]
    }

    /// Keeps an alert of one host that was reported with others.
    private mutating func hold(_ id: String, _ since: Timestamp, _ now: Timestamp, _ told: Open.Told) {
        troubles[id]?.alert = id
        open[id] = Open(hosts: [id], shared: nil, since: since, reported: now)
        open[id]?.told = told
        hasChanged = true
    }

    // MARK: - What is due

    /// - Returns: What to say now.
    package mutating func tick(_ now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        var messages = finish(now, facts)
        messages += raise(now, facts)
        messages += remind(now, facts)
        messages += escalate(now, facts)
        messages += calmDown(now)
        let oldest = now + (.zero - options.flapTime)
        for (name, times) in raised where flapping[name] == nil {
            let kept = times.filter { $0 > oldest }
            raised[name] = kept.isEmpty ? nil : kept
        }
        return messages
    }

    /// Ends alerts whose hosts are back: all, or nine in ten of many.
    private mutating func finish(_ now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        var messages: [AlertMessage] = []
        var known: Fleet?
        for (name, alert) in open.sorted(by: { $0.key < $1.key }) {
            let back = alert.hosts.filter { id in
                guard let trouble = troubles[id] else { return true }
                return trouble.back.map { $0 + options.settle <= now } ?? false
            }
            guard !back.isEmpty, back.count * 10 >= alert.hosts.count * 9 else { continue }
            let fleet = known ?? facts.fleet()
            known = fleet
            let span = span(name, alert, over: back, fleet, facts)
            let over = span.over ?? back.compactMap { troubles[$0]?.back }.max() ?? now
            let late = alert.hosts.subtracting(back).sorted()
            let acknowledgement = self.acknowledgement(of: name, alert, facts)
            open[name] = nil
            hasChanged = true
            if flapping[name] == nil {
                messages.append(
                    AlertMessage(
                        alert: name, .up, hosts: back.sorted(), shared: alert.shared, since: span.since, over: over,
                        acknowledged: acknowledgement, level: alert.level,
                        sentence: upSentence(back.sorted(), alert, span.since.duration(to: over), late)))
            } else {
                flapping[name]?.changed = over
            }
            for id in back { troubles[id] = nil }
            for id in late {
                hold(id, alert.since, now, .init(name: name, time: alert.since))
                open[id]?.raised = alert.raised
                open[id]?.level = alert.level
            }
        }
        return messages
    }

    private mutating func remind(_ now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        guard let reminder = options.reminder else { return [] }
        var messages: [AlertMessage] = []
        for (name, alert, away) in neglected(facts, where: { $0.reported + reminder <= now }) {
            open[name]?.reported = now
            hasChanged = true
            messages.append(
                AlertMessage(
                    alert: name, .reminder, hosts: away, shared: alert.shared, since: alert.since, level: alert.level,
                    sentence: [
                        .words(
                            "\(subject(away, alert)) still away after \(TimeWords.describe(alert.since.duration(to: now)))"
                        )
                    ]))
        }
        return messages
    }

    /// Those of the alerts about which no one does anything, with their hosts that are still away.
    func neglected(_ facts: Facts, where isDue: (Open) -> Bool) -> [(name: String, alert: Open, away: [String])] {
        open.sorted { $0.key < $1.key }.compactMap { name, alert in
            guard isDue(alert), flapping[name] == nil else { return nil }
            let away = alert.hosts.filter { troubles[$0]?.back == nil && !facts.isQuiet($0) }.sorted()
            return away.isEmpty || acknowledgement(of: name, alert, facts) != nil ? nil : (name, alert, away)
        }
    }

    /// Ends the flapping of what has not changed for long, and says how it stands.
    private mutating func calmDown(_ now: Timestamp) -> [AlertMessage] {
        var messages: [AlertMessage] = []
        for (name, flap) in flapping.sorted(by: { $0.key < $1.key }) where flap.changed + options.calm <= now {
            flapping[name] = nil
            raised[name] = nil
            hasChanged = true
            let isAway = open[name] != nil
            messages.append(
                AlertMessage(
                    alert: name, .steady, hosts: flap.hosts, shared: flap.shared, since: flap.since,
                    over: isAway ? nil : flap.changed, changes: flap.count, level: open[name]?.level ?? 0,
                    sentence: [
                        .words(
                            "\(subject(flap.hosts, shared: flap.shared)) steady, \(isAway ? "away" : "online") since "),
                        .time(flap.changed), .words(", after going away \(flap.count) times"),
                    ]))
        }
        return messages
    }

    /// Who acknowledged an alert: by its own name, or by that of the message that spoke of it and of others.
    private func acknowledgement(of name: String, _ alert: Open, _ facts: Facts) -> String? {
        for told in [.init(name: name, time: alert.since), alert.told].compactMap(\.self) {
            // One of an earlier trouble of the same name says nothing about this one.
            guard let note = facts.acknowledgement(told.name, alert.hosts), note.stored >= told.time else { continue }
            return note.author ?? "somebody"
        }
        return nil
    }
}
