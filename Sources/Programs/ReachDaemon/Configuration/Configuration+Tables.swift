internal import ReachCore
internal import ReachProbe
internal import ReachQueue
package import ReachTOML

extension Configuration {
    /// All tables and keys. A new key needs a line here, one in reach.toml(5), and one in contrib/reach.toml.
    package static let tables: [ConfigurationTable<Configuration>] = [
        .keys(nil, [ConfigurationKey("log_level", \.logLevel, .word)]),
        .keys(
            "internet",
            [
                ConfigurationKey("anchors", \.internet.anchors, .list(of: .address, 1...32)),
                ConfigurationKey("mark", \.internet.mark, .mark),
            ]),
        .names("targets", .targets, .target, all: { $0.targets.map { ($0.name, $0.target) } }) {
            $0.targets.set($1, to: $2)
        },
        .list(
            "interface", InterfaceRule(), requiring: ["match"],
            andOneOf: ["class", "metered", "past_tunnels", "metered_budget"],
            [
                ConfigurationKey("match", \.match, .pattern),
                ConfigurationKey("class", \.linkClass, .optional(.word)),
                ConfigurationKey("metered", \.metered, .optional(.flag)),
                ConfigurationKey("past_tunnels", \.passesTunnels, .optional(.flag)),
                ConfigurationKey("metered_budget", \.meteredBudget, .meteredBudget),
            ],
            in: \.interfaces),
        .list(
            "network", NetworkEntry(), requiring: ["name"],
            andOneOf: ["ssid", "bssid", "gateway_mac", "prefix", "pvd"],
            lacking: "nothing identifies the network",
            [
                ConfigurationKey("name", \.name, .networkName),
                ConfigurationKey("ssid", \.ssid, .oneOf(.ssid, upTo: 32)),
                ConfigurationKey("bssid", \.bssid, .oneOf(.hardwareAddress, upTo: 256)),
                ConfigurationKey("gateway_mac", \.gatewayMAC, .oneOf(.hardwareAddress, upTo: 32)),
                ConfigurationKey("prefix", \.prefix, .oneOf(.prefix, upTo: 32)),
                ConfigurationKey("pvd", \.pvd, .oneOf(.provisioningDomain, upTo: 32)),
                ConfigurationKey("metered", \.metered, .optional(.flag)),
                ConfigurationKey("trusted", \.trusted, .optional(.flag)),
            ],
            contradiction: { entry, _ in entry.contradiction() }, in: \.networks),
        .keys(
            "connectivity",
            [
                ConfigurationKey("endpoints", \.connectivity.endpoints, .endpoints),
                ConfigurationKey(
                    "interval", \.connectivity.interval, .duration(from: .seconds(10), upTo: .seconds(7 * 86_400))),
                ConfigurationKey(
                    "timeout", \.connectivity.timeout, .duration(from: .milliseconds(100), upTo: .seconds(60))),
                ConfigurationKey("demote_after", \.connectivity.demoteAfter, .number(1...10)),
                ConfigurationKey("promote_after", \.connectivity.promoteAfter, .number(1...10)),
                ConfigurationKey("portal_api", \.connectivity.portalAPI, .flag),
                ConfigurationKey("detect_silence", \.connectivity.detectSilence, .flag),
                ConfigurationKey("quality", \.connectivity.quality, .flag),
                ConfigurationKey("quality_on_metered", \.connectivity.qualityOnMetered, .flag),
                ConfigurationKey(
                    "metered_bytes_per_day", \.connectivity.meteredBytesPerDay, .number(0...1_000_000_000_000)),
                ConfigurationKey("proxy", \.connectivity.proxies.proxy, .proxy),
                ConfigurationKey("https_proxy", \.connectivity.proxies.https, .proxy),
                ConfigurationKey("no_proxy", \.connectivity.proxies.exceptions, .list(of: .proxyException, 0...256)),
            ]),
        .keys(
            "hold",
            [
                ConfigurationKey("up", \.hold.up, .duration(upTo: .seconds(86_400))),
                ConfigurationKey("down", \.hold.down, .duration(upTo: .seconds(86_400))),
                ConfigurationKey("maximum", \.hold.maximum, .duration(upTo: .seconds(7 * 86_400))),
                ConfigurationKey("flaps", \.hold.flaps, .duration(upTo: .seconds(60))),
            ]),
        .keys(
            "limits",
            [
                ConfigurationKey("connections", \.limits.connections, .number(1...65_536)),
                ConfigurationKey("connections_per_user", \.limits.connectionsPerUser, .number(1...65_536)),
                ConfigurationKey("targets", \.limits.targets, .number(1...65_536)),
                ConfigurationKey("pending_bytes", \.limits.pendingBytes, .number(4096...67_108_864)),
            ]),
        .keys(
            "socket",
            [
                // sun_path holds 108 bytes, including the terminating zero.
                ConfigurationKey("path", \.socket.path, .path(longest: 107)),
                ConfigurationKey("group", \.socket.group, .group),
            ]),
        .keys(
            "hooks",
            [
                ConfigurationKey("directory", \.hooks.directory, .path(longest: 4000)),
                ConfigurationKey("timeout", \.hooks.timeout, .duration(from: .seconds(1), upTo: .seconds(86_400))),
                ConfigurationKey("when", \.hooks.condition, .condition),
                ConfigurationKey("events", \.hooks.events, .list(of: .word, 0...5, distinctBy: \.rawValue)),
            ]),
        .list(
            "hook", TargetHook(), requiring: ["target", "run"],
            [
                ConfigurationKey("target", \.target, .targetName),
                ConfigurationKey("run", \.program, .path(longest: 4000)),
            ],
            in: \.targetHooks),
        .keys(
            "history",
            [
                ConfigurationKey("entries", \.history.entries, .number(0...1_000_000)),
                ConfigurationKey("directory", \.history.directory, .path(longest: 4000)),
                ConfigurationKey("test_outages", \.history.testsOutages, .flag),
            ]),
        .keys(
            "journal",
            [
                ConfigurationKey("events", \.journal.events, .list(of: .word, 0...6, distinctBy: \.rawValue)),
                ConfigurationKey("bytes", \.journal.bytes, .number(1_048_576...1_099_511_627_776)),
                ConfigurationKey(
                    "age", \.journal.age, .duration(from: .seconds(60), upTo: .seconds(3650 * 86_400))),
                ConfigurationKey("group", \.journal.group, .group),
            ]),
        .keys(
            "queue",
            [
                ConfigurationKey("enabled", \.queue.isEnabled, .flag),
                ConfigurationKey("requests", \.queue.policy.limits.requests, .number(1...1_000_000)),
                ConfigurationKey("requests_per_user", \.queue.policy.limits.ownerRequests, .number(1...1_000_000)),
                ConfigurationKey("bytes", \.queue.policy.limits.bytes, .numberOrNone(65_536...1_099_511_627_776)),
                ConfigurationKey(
                    "bytes_per_user", \.queue.policy.limits.ownerBytes, .numberOrNone(65_536...1_099_511_627_776)),
                ConfigurationKey("disk_share", \.queue.policy.limits.disk.share, .number(1...100)),
                ConfigurationKey("disk_share_per_user", \.queue.policy.limits.disk.ownerShare, .number(1...100)),
                ConfigurationKey(
                    "keep_free", \.queue.policy.limits.disk.keepFree, .numberOrNone(0...1_099_511_627_776)),
                ConfigurationKey("concurrency", \.queue.policy.slots.all, .number(1...256)),
                ConfigurationKey("concurrency_per_destination", \.queue.policy.slots.destination, .number(1...256)),
                ConfigurationKey("expires", \.queue.policy.timeToLive, .duration(from: .seconds(1), upTo: .year)),
                ConfigurationKey("answer_bytes", \.queue.answerBytes, .number(1024...1_099_511_627_776)),
                ConfigurationKey("keep_results", \.queue.policy.results.count, .number(0...1_000_000)),
                ConfigurationKey(
                    "keep_results_bytes", \.queue.policy.results.bytes, .number(65_536...1_099_511_627_776)),
                ConfigurationKey(
                    "keep_results_for", \.queue.policy.results.lifetime, .duration(from: .seconds(1), upTo: .year)),
                ConfigurationKey("keep_dead", \.queue.policy.dead.count, .number(0...1_000_000)),
                ConfigurationKey("keep_dead_bytes", \.queue.policy.dead.bytes, .number(65_536...1_099_511_627_776)),
                ConfigurationKey(
                    "keep_dead_for", \.queue.policy.dead.lifetime, .duration(from: .seconds(1), upTo: .year)),
                ConfigurationKey("attempt_time", \.queue.attemptTime, .durationOrNone(upTo: .seconds(30 * 86_400))),
                ConfigurationKey("least_rate", \.queue.leastRate, .number(0...1_000_000_000)),
                ConfigurationKey("metered_budget", \.queue.policy.metered.all, .meteredBudget),
                ConfigurationKey("metered_budget_per_user", \.queue.policy.metered.perUser, .meteredBudget),
                ConfigurationKey("metered_budget_begins", \.queue.policy.metered.begins, .number(1...31)),
                ConfigurationKey("join_requests", \.queue.policy.joining.count, .number(1...1000)),
                ConfigurationKey("join_bytes", \.queue.policy.joining.bytes, .number(1024...16_777_216)),
                ConfigurationKey("join_wait", \.queue.policy.joining.wait, .duration(upTo: .seconds(86_400))),
                ConfigurationKey("proxy", \.queue.proxies.proxy, .proxy),
                ConfigurationKey("https_proxy", \.queue.proxies.https, .proxy),
                ConfigurationKey("no_proxy", \.queue.proxies.exceptions, .list(of: .proxyException, 0...256)),
                ConfigurationKey("fleet_group", \.queue.fleetGroup, .group),
            ]),
        .keys(
            "probes",
            [
                ConfigurationKey("concurrency", \.probing.concurrency, .number(1...1024)),
                ConfigurationKey("results", \.probing.results, .flag),
                ConfigurationKey("archive", \.probing.isArchived, .flag),
            ]),
        .list(
            templates, ProbeEntry(), requiring: ["name"], templateKeys, and: settingKeys,
            named: { [$0.name] },
            contradiction: { $0.templateContradiction(takenName: $1) }, in: \.probeTemplates),
        .list(
            "probe", ProbeEntry(),
            from: { table, configuration throws(ConfigurationValidationError) in
                try ProbeEntry(from: table, of: configuration)
            },
            requiring: ["name", "target"], probeKeys,
            named: { $0.names },
            contradiction: { $0.contradiction(takenName: $1) }, in: \.probes),
        .keys(
            "metrics",
            [
                ConfigurationKey("listen", \.metrics.listen, .optional(.listenAddress)),
                ConfigurationKey("file", \.metrics.file, .path(longest: 4000)),
                ConfigurationKey(
                    "interval", \.metrics.interval, .duration(from: .seconds(1), upTo: .seconds(86_400))),
            ]),
        .keys("page", [ConfigurationKey("directory", \.page.directory, .path(longest: 4000))]),
    ]

    /// The keys of a `[[probe]]` table.
    private static let probeKeys: [ConfigurationKey<ProbeEntry>] =
        [
            ConfigurationKey("name", \.name, .probeName), ConfigurationKey("target", \.targets, .probeTargets),
            ConfigurationKey("template", \.template, .optional(.probeName)),
        ] + settingKeys

    /// The keys that only a `[[probe_template]]` table has.
    private static let templateKeys: [ConfigurationKey<ProbeEntry>] = [
        ConfigurationKey("name", \.name, .probeName),
        ConfigurationKey("scrape_targets", \.scrapeTargets, .list(of: .targetPattern, 0...256)),
    ]

    /// Those that a template has, too.
    private static let settingKeys: [ConfigurationKey<ProbeEntry>] = [
        ConfigurationKey("group", \.group, .optional(.probeName)),
        ConfigurationKey("interval", \.interval, .duration(from: .seconds(1), upTo: .seconds(7 * 86_400))),
        ConfigurationKey("timeout", \.timeout, .optional(.duration(from: .milliseconds(1), upTo: .seconds(300)))),
        ConfigurationKey(
            "failing_interval", \.failingInterval, .duration(from: .seconds(1), upTo: .seconds(7 * 86_400))),
        ConfigurationKey("down", \.thresholds.down, .number(1...1000)),
        ConfigurationKey("up", \.thresholds.up, .number(1...1000)),
        ConfigurationKey("interface", \.condition.interface, .optional(.interfaceName)),
        ConfigurationKey("class", \.condition.linkClass, .optional(.word)),
        ConfigurationKey("when", \.when, .condition),
        ConfigurationKey("family", \.family, .optional(.word)),
        ConfigurationKey("method", \.method, .optional(.word)),
        ConfigurationKey("headers", \.headers, .list(of: .requestHeader, 0...32)),
        ConfigurationKey("redirects", \.redirects, .optional(.number(0...20))),
        ConfigurationKey("any_certificate", \.anyCertificate, .optional(.flag)),
        ConfigurationKey("status", \.status, .optional(.statusSet)),
        ConfigurationKey("header", \.expected.header, .optional(.header)),
        ConfigurationKey("body_contains", \.expected.bodyContains, .optional(.text(longest: 4096))),
        ConfigurationKey("body_prefix", \.expected.bodyPrefix, .optional(.text(longest: 4096))),
        ConfigurationKey("json", \.expected.json, .oneOf(.jsonCondition, upTo: 16)),
        ConfigurationKey("certificate_days", \.expected.certificateDays, .optional(.number(0...3650))),
        ConfigurationKey(
            "latency", \.expected.latency, .optional(.duration(from: .milliseconds(1), upTo: .seconds(300)))),
        ConfigurationKey("burst", \.burst, .optional(.number(2...100))),
        ConfigurationKey("burst_on_metered", \.burstOnMetered, .optional(.flag)),
        ConfigurationKey("loss_percent", \.expected.lossPercent, .optional(.number(0...99))),
        ConfigurationKey("response_code", \.responseCode, .optional(.word)),
        ConfigurationKey("answers", \.expected.answers, .list(of: .text(longest: 255), 0...32)),
    ]

    /// The table that is read before all others.
    static let templates = "probe_template"

    /// All keys with their tables, such as `hold.up`. `targets.NAME` stands for names that the user chooses.
    package static var keyNames: [String] { tables.flatMap(\.keyNames) }

    /// Fits the defaults for each user or destination to totals that are set: who sets only `queue.concurrency = 2`
    /// contradicts nothing. No total grows by this: it is a limit.
    ///
    /// - Parameter isSet: Whether a file sets a key.
    mutating func fitDefaults(isSet: (String) -> Bool) {
        if !isSet("limits.connections_per_user") {
            limits.connectionsPerUser = min(limits.connectionsPerUser, limits.connections)
        }
        let (limits, slots) = (queue.policy.limits, queue.policy.slots)
        if !isSet("queue.requests_per_user") {
            queue.policy.limits.ownerRequests = min(limits.ownerRequests, limits.requests)
        }
        if !isSet("queue.concurrency_per_destination") {
            queue.policy.slots.destination = min(slots.destination, slots.all)
        }
    }

    /// The periods of all budgets for metered links.
    private var meteredPeriods: [MeteredPeriod] {
        ([queue.policy.metered.all, queue.policy.metered.perUser] + interfaces.map(\.meteredBudget)).compactMap {
            $0?.period
        }
    }

    /// Contradictions between keys: the key to report, the problem, and the expected value.
    var contradictions: [(key: String, problem: String, expected: String?)] {
        var found: [(key: String, problem: String, expected: String?)] = []
        if hold.maximum != .zero, hold.maximum < max(hold.up, hold.down) {
            found.append(("hold.maximum", "it is shorter than a hold", "at least the longer of up and down, or \"0s\""))
        }
        if connectivity.timeout > connectivity.interval {
            found.append(
                (
                    "connectivity.timeout",
                    "it is longer than interval (\"\(DurationText.describe(connectivity.interval))\")",
                    "at most as long as interval"
                ))
        }
        if limits.connectionsPerUser > limits.connections {
            found.append(
                (
                    "limits.connections_per_user", "it is more than connections (\(limits.connections))",
                    "at most as many as connections"
                ))
        }
        if journal.events.contains(.probeResult), !probing.results {
            found.append(
                ("journal.events", "it has \"probe-result\", but probes.results is false", "probes.results = true"))
        }
        let queued = queue.policy.limits
        for (key, ofUser, all) in [
            ("requests", Int64(queued.ownerRequests), Int64(queued.requests)),
            ("bytes", queued.ownerBytes ?? 0, queued.bytes ?? .max),
        ] where ofUser > all {
            found.append(("queue.\(key)_per_user", "it is more than \(key) (\(all))", "at most as many as \(key)"))
        }
        let slots = queue.policy.slots
        if slots.destination > slots.all {
            found.append(
                (
                    "queue.concurrency_per_destination", "it is more than concurrency (\(slots.all))",
                    "at most as many as concurrency"
                ))
        }
        let periods = meteredPeriods
        let begins = queue.policy.metered.begins
        if begins > 1, !periods.contains(where: { $0.beginnings.contains(begins) }) {
            found.append(
                (
                    "queue.metered_budget_begins", "no period of a budget begins on day \(begins)",
                    "a day from 1 to \(periods.map(\.beginnings.upperBound).max() ?? 1)"
                ))
        }
        if let (problem, expected) = unknownNetwork(in: hooks.condition) {
            found.append(("hooks.when", problem, expected))
        }
        let known = ["internet"] + targets.map(\.name)
        for hook in targetHooks where !known.contains(hook.target) {
            found.append(
                ("hook.target", "no target has the name \"\(hook.target)\"", "one of " + known.joined(separator: ", ")))
        }
        let entries = probeTemplates.map { (table: Self.templates, entry: $0) } + probes.map { ("probe", $0) }
        for (table, probe) in entries {
            let place = "\(table == "probe" ? table : "template") \"\(probe.name)\": "
            if let (problem, expected) = unknownNetwork(in: probe.when) {
                found.append((table + ".when", place + problem, expected))
            }
            if probe.when.quality != nil, !connectivity.measuresQuality {
                found.append(
                    (
                        table + ".when",
                        place + "no line is ever measured, since [connectivity] has no \"quality = true\"",
                        "quality and endpoints, or no \"quality=\""
                    ))
            }
            guard probe.when.isValidated, connectivity.endpoints.isEmpty else { continue }
            found.append(
                (
                    table + ".when",
                    place + "nothing is ever validated, since [connectivity] has no endpoints",
                    "endpoints, or no \"validated\""
                ))
        }
        return found
    }

    /// The problem with a condition that asks for networks which the file does not name; `nil` if there is none. An
    /// identifier of a network without a name is no problem.
    func unknownNetwork(in condition: NetworkCondition) -> (problem: String, expected: String?)? {
        let names = networks.map(\.name)
        return condition.unknownNetwork(among: names).map { name in
            let problem = "no [[network]] is named '\(name)'"
            guard NearestWord.find(name, among: names) == nil else {
                return (problem + NearestWord.hint(for: name, among: names), nil)
            }
            return (
                problem,
                names.isEmpty ? "a [[network]] table with this name" : "one of " + names.joined(separator: ", ")
            )
        }
    }
}

extension ConfigurationKind<String> {
    /// The name of a configured target.
    fileprivate static var targetName: Self {
        Self("the name of a target below [targets], or \"internet\"", write: TOMLLiteral.text) {
            $0.text.map { .value($0) } ?? .otherType
        }
    }
}

extension ConfigurationNames {
    /// The names that the user may give to targets: all that a host could have, since clients use them like host names.
    static let targets = ConfigurationNames(
        "a name of letters, digits, hyphens, underscores and dots that is neither an address nor \"internet\""
    ) { name in
        guard !InternationalName.isOne(name), let target = try? Target(name), case .name = target.subject else {
            return "\"\(name)\" cannot be the name of a target"
        }
        return nil
    }
}
