internal import ReachCore

extension AlertMachine {
    /// Calls the next person about alerts that no one has acknowledged in time.
    mutating func escalate(_ now: Timestamp, _ facts: Facts) -> [AlertMessage] {
        var messages: [AlertMessage] = []
        for (name, alert, away) in neglected(facts, where: { isDue($0, now) }) {
            open[name]?.level = alert.level + 1
            hasChanged = true
            let lasted = TimeWords.describe(alert.since.duration(to: now))
            messages.append(
                AlertMessage(
                    alert: name, .escalation, hosts: away, shared: alert.shared, since: alert.since,
                    level: alert.level + 1,
                    sentence: [
                        .words("\(subject(away, alert)) still away after \(lasted), and no one has acknowledged it")
                    ]))
        }
        return joined(messages, now)
    }

    private func isDue(_ alert: Open, _ now: Timestamp) -> Bool {
        alert.level < options.escalations.count && alert.raised + options.escalations[alert.level] <= now
    }

    /// Many hosts without anything in common are one call for each person.
    private mutating func joined(_ messages: [AlertMessage], _ now: Timestamp) -> [AlertMessage] {
        let single = messages.filter { $0.shared == nil }
        guard single.count > options.mostMessages else { return messages }
        let levels = Dictionary(grouping: single, by: \.level).sorted { $0.key < $1.key }
        return messages.filter { $0.shared != nil }
            + levels.map { level, messages in
                let (names, since) = (messages.flatMap(\.hosts), messages.map(\.since).min() ?? now)
                let are = names.count == 1 ? "is" : "are"
                if messages.count > 1 {
                    for message in messages { open[message.alert]?.told = .init(name: Self.several, time: now) }
                }
                return AlertMessage(
                    alert: messages.count == 1 ? messages[0].alert : Self.several, .escalation, hosts: names,
                    since: since,
                    level: level,
                    sentence: [
                        .words(
                            "\(Self.list(names)) \(are) still away, and no one has acknowledged that, the first since "),
                        .time(since),
                    ])
            }
    }
}
