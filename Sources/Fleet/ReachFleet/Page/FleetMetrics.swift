internal import ReachCore

/// The fleet as Prometheus's text, for node_exporter's textfile collector: hosts by word, class of link and label,
/// outages, and the engine.
///
/// The number of series has a bound whatever labels the hosts have: a label's values beyond the most frequent, and
/// names beyond the most frequent, count as `other`. Single hosts have a series only while they are away.
package enum FleetMetrics {
    /// The most names of labels, and the most values of each.
    package static let nameLimit = 16
    package static let valueLimit = 50
    package static let other = "other"
    /// The most hosts that are away and have a series of their own.
    package static let hostLimit = 1_000

    /// - Parameter values: The most values of a label.
    package static func text(_ page: FleetPage, values: Int = valueLimit) -> [UInt8] {
        var writer = MetricWriter()
        hosts(page.hosts, values, &writer)
        away(page.hosts, &writer)
        outages(page.outages, &writer)
        writer.family("reach_fleet_lines", .gauge, "Lines by word: the hosts behind one public address are one.")
        var lines = WordCounts()
        for line in page.lines { lines.add(line.word) }
        lines.write([], &writer)
        writer.family("reach_fleet_engine_up", .gauge, "Whether the engine answered.")
        writer.sample([], page.engineTrouble == nil ? 1 as UInt64 : 0)
        writer.family("reach_fleet_as_of_timestamp_seconds", .gauge, "When the engine last answered.")
        writer.sample([], Double(page.asOf.nanosecondsSince1970) / 1e9)
        return writer.bytes
    }

    private static func hosts(_ hosts: [PageHost], _ values: Int, _ writer: inout MetricWriter) {
        var all = WordCounts()
        var classes: [String: WordCounts] = [:]
        for host in hosts {
            all.add(host.presence.word)
            classes[host.linkClass?.rawValue ?? "none", default: WordCounts()].add(host.presence.word)
        }
        writer.family("reach_fleet_hosts", .gauge, "Hosts by word.")
        all.write([], &writer)
        writer.family("reach_fleet_class_hosts", .gauge, "Hosts by class of link and word.")
        for (word, counts) in bounded(classes, to: valueLimit) {
            counts.write([("class", DisplayText.sanitized(word))], &writer)
        }
        labels(hosts, values, &writer)
        writer.family("reach_fleet_events_behind", .gauge, "Events that wait on hosts.")
        writer.sample([], hosts.reduce(0 as UInt64) { $0.addingReportingOverflow($1.behind).partialValue })
        writer.family(
            "reach_fleet_warnings", .gauge, "Hosts with a warning, such as an identity that two machines use.")
        writer.sample([], UInt64(hosts.count { $0.note != nil }))
    }

    /// Those that are silent, the longest first, for an alert about each. Quiet ones have none.
    private static func away(_ hosts: [PageHost], _ writer: inout MetricWriter) {
        let silent = hosts.filter { $0.presence.word == .silent && $0.quiet == nil }.sorted {
            ($0.presence.since?.nanosecondsSince1970 ?? 0, $0.id) < (
                $1.presence.since?.nanosecondsSince1970 ?? 0, $1.id
            )
        }
        writer.family(
            "reach_fleet_host_silent_timestamp_seconds", .gauge,
            "Since when a host is silent; only for hosts that are, and about which alerts are not quiet.")
        for host in silent.prefix(hostLimit) {
            writer.sample(
                [("host", host.id), ("name", DisplayText.sanitized(host.name ?? ""))],
                Double(host.presence.since?.nanosecondsSince1970 ?? 0) / 1e9)
        }
        writer.family("reach_fleet_quiet_hosts", .gauge, "Hosts about which alerts are quiet.")
        writer.sample([], UInt64(hosts.count { $0.quiet != nil }))
    }

    private static func labels(_ hosts: [PageHost], _ valueLimit: Int, _ writer: inout MetricWriter) {
        var names: [String: [String: WordCounts]] = [:]
        var uses: [String: WordCounts] = [:]
        for host in hosts {
            for (name, value) in host.labels {
                names[name, default: [:]][value, default: WordCounts()].add(host.presence.word)
                uses[name, default: WordCounts()].add(host.presence.word)
            }
        }
        writer.family("reach_fleet_label_hosts", .gauge, "Hosts by label and word.")
        for (name, total) in bounded(uses, to: nameLimit) {
            // Names beyond the limit are one label without values.
            let values = name == other ? [(other, total)] : bounded(names[name] ?? [:], to: valueLimit)
            for (value, counts) in values {
                counts.write(
                    [("label", DisplayText.sanitized(name)), ("value", DisplayText.sanitized(value))], &writer)
            }
        }
    }

    /// The most frequent in alphabetical order, and the sum of all others as `other`, last.
    private static func bounded(_ counts: [String: WordCounts], to limit: Int) -> [(String, WordCounts)] {
        guard counts.count > limit || counts[other] != nil else { return counts.sorted { $0.key < $1.key } }
        let named = counts.filter { $0.key != other }.sorted { ($1.value.sum, $0.key) < ($0.value.sum, $1.key) }
        let rest = named.dropFirst(limit).reduce(into: counts[other] ?? WordCounts()) { $0.add($1.value) }
        return named.prefix(limit).sorted { $0.key < $1.key } + [(other, rest)]
    }

    private static func outages(_ outages: [Outage], _ writer: inout MetricWriter) {
        let open = outages.filter(\.isOpen)
        writer.family("reach_fleet_outages_open", .gauge, "Outages that last.")
        writer.sample([], UInt64(open.count))
        writer.family("reach_fleet_outage_hosts", .gauge, "Hosts that are away in outages that last.")
        writer.sample([], UInt64(open.reduce(0) { $0 + $1.members.count - $1.back }))
        writer.family(
            "reach_fleet_largest_outage_hosts", .gauge, "Hosts that are away in the largest outage that lasts.")
        writer.sample([], UInt64(open.map { $0.members.count - $0.back }.max() ?? 0))
    }
}

/// Numbers of hosts by word.
private struct WordCounts {
    private var counts = [UInt64](repeating: 0, count: HostWord.allCases.count)

    var sum: UInt64 { counts.reduce(0, +) }

    mutating func add(_ word: HostWord) { counts[word.number] += 1 }

    mutating func add(_ other: WordCounts) { for index in counts.indices { counts[index] += other.counts[index] } }

    func write(_ labels: MetricLabels, _ writer: inout MetricWriter) {
        for word in HostWord.allCases { writer.sample(labels + [("word", word.rawValue)], counts[word.number]) }
    }
}
