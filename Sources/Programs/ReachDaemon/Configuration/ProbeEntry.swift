package import ReachCore
package import ReachProbe
internal import ReachTOML

/// A `[[probe]]` table as written, with what its template sets; ``specifications`` are the probes it describes. A
/// `[[probe_template]]` table has the same keys but the target.
package struct ProbeEntry: Hashable, Sendable {
    package enum Family: String, Hashable, Sendable, CaseIterable {
        case ipv4
        case ipv6
    }

    package var name = ""
    package var group: String?
    /// The name of its template.
    package var template: String?
    package var targets: ProbeTargets?
    /// Of a template: the targets of scrapes that it is the module of.
    package var scrapeTargets: [ProbeTargetPattern] = []
    package var interval: Duration = .seconds(30)
    package var timeout: Duration?
    package var failingInterval: Duration = .seconds(5)
    package var thresholds = ProbeSpecification.Thresholds()
    package var condition = NetworkCondition.any
    /// What the path must be, beyond `interface` and `class`.
    package var when = NetworkCondition.any
    package var family: Family?
    package var method: ProbeSpecification.Method?
    package var headers: [HeaderField] = []
    package var redirects: Int?
    package var anyCertificate: Bool?
    package var status: HTTPStatusSet?
    package var burst: Int?
    package var burstOnMetered: Bool?
    package var responseCode: DNSResponseCode?
    /// What an answer must be, but for ``status`` and ``responseCode``, of which it matters whether they are set.
    package var expected = ExpectedAnswer()

    /// A probe for each target, with what is different in its target behind the name.
    package var specifications: [ProbeSpecification] {
        (targets?.all ?? []).map {
            specification($0.suffix.isEmpty ? name : name + "-" + $0.suffix, $0.target)
        }
    }

    /// The names of the probes.
    var names: [String] { specifications.map(\.name) }

    func specification(_ name: String, _ target: ProbeTarget) -> ProbeSpecification {
        var specification = ProbeSpecification(name: name, target: target)
        specification.group = group
        specification.interval = interval
        specification.timeout = timeout
        specification.failingInterval = failingInterval
        specification.thresholds = thresholds
        specification.condition = whole
        specification.family = family.map { $0 == .ipv4 ? .ipv4 : .ipv6 }
        specification.method = method ?? .get
        specification.headers = headers
        specification.redirects = redirects ?? 0
        specification.acceptsAnyCertificate = anyCertificate ?? false
        specification.burst = burst
        specification.burstsOnMetered = burstOnMetered ?? false
        specification.expected = expected
        if let status { specification.expected.status = status }
        if let responseCode { specification.expected.responseCode = responseCode }
        return specification
    }

    /// All that the path must be.
    private var whole: NetworkCondition {
        var whole = when
        whole.interface = condition.interface ?? when.interface
        whole.linkClass = condition.linkClass ?? when.linkClass
        return whole
    }

    /// A contradiction between keys: the key to report, the problem, and what is expected.
    ///
    /// - Parameter takenName: The name that a probe before this one has, too.
    func contradiction(takenName: String?) -> (key: String, problem: String, expected: String)? {
        if let takenName {
            return ("name", "another probe is already named \"\(takenName)\"", "a unique name")
        }
        if condition.interface != nil, condition.linkClass != nil {
            return ("class", "interface is set, too", "either an interface or a class")
        }
        if condition != .any, when.interface != nil || when.linkClass != nil {
            return ("when", "interface or class is set, too", "the interface or the class in one place")
        }
        if let timeout, timeout > interval {
            return ("timeout", "it is longer than the interval", "at most \(DurationText.describe(interval))")
        }
        if let fault = RequestFieldFault.first(in: headers) {
            return ("headers", fault.description, "each header once")
        }
        guard let kind = targets?.all.first?.target.kind else { return nil }
        if let misplaced = misplacedKey(for: kind) { return misplaced }
        if burst == nil, expected.lossPercent != nil { return ("loss_percent", "burst is not set", "both keys") }
        if burst != nil, let probe = specifications.first,
            probe.sendingTime + Self.leastAnswerTime > probe.effectiveTimeout
        {
            let (sends, may) = (probe.sendingTime, probe.effectiveTimeout)
            return (
                "burst",
                "its requests are sent over \(DurationText.describe(sends)), and an attempt may take "
                    + "\(DurationText.describe(may))",
                "fewer requests, or a longer timeout or interval"
            )
        }
        return nil
    }

    /// A key that does not apply to a kind of targets.
    func misplacedKey(for kind: ProbeTarget.Kind) -> (key: String, problem: String, expected: String)? {
        keysOfKinds.first { $0.isSet && !$0.kinds.contains(kind) }.map { key in
            let kinds = key.kinds.map(\.rawValue).joined(separator: ", ")
            return (key.name, "it does not apply to \(kind.rawValue)", "this key only for \(kinds)")
        }
    }

    /// The time that a burst's last answer needs at least, on an ordinary line.
    private static let leastAnswerTime = Duration.milliseconds(500)

    private var keysOfKinds: [(name: String, isSet: Bool, kinds: [ProbeTarget.Kind])] {
        let web: [ProbeTarget.Kind] = [.http, .https]
        let secure: [ProbeTarget.Kind] = [.https, .tls]
        return [
            ("method", method != nil, web), ("headers", !headers.isEmpty, web), ("redirects", redirects != nil, web),
            ("status", status != nil, web), ("header", expected.header != nil, web),
            ("body_contains", expected.bodyContains != nil, web), ("body_prefix", expected.bodyPrefix != nil, web),
            ("json", !expected.json.isEmpty, web),
            ("burst", burst != nil, [.icmp]), ("burst_on_metered", burstOnMetered != nil, [.icmp]),
            ("loss_percent", expected.lossPercent != nil, [.icmp]),
            ("certificate_days", expected.certificateDays != nil, secure),
            ("any_certificate", anyCertificate != nil, secure),
            ("response_code", responseCode != nil, [.dns]), ("answers", !expected.answers.isEmpty, [.dns]),
        ]
    }
}

extension Configuration {
    /// The configured probes, in the order of the file.
    package var probeSpecifications: [ProbeSpecification] { probes.flatMap(\.specifications) }
}

extension ProbeEntry {
    /// A probe before its own keys are read: what its template sets.
    ///
    /// - Parameter table: The probe's table; without the name of a template nothing is set.
    init(from table: TOMLTable, of configuration: Configuration) throws(ConfigurationValidationError) {
        self.init()
        guard let key = table["template"], let name = key.node.value.text else { return }
        let templates = configuration.probeTemplates
        guard let template = templates.first(where: { $0.name == name }) else {
            let hint = NearestWord.hint(for: name, among: templates.map(\.name))
            throw ConfigurationValidationError(
                line: key.line, key: "probe.template",
                "no [[probe_template]] is named \"\(DisplayText.excerpt(name))\"\(hint)",
                expected: hint.isEmpty ? "the name of a [[probe_template]]" : nil)
        }
        self = template
        self.name = ""
        scrapeTargets = []
    }

    /// A contradiction in a template: the key to report, the problem, and what is expected. What a probe makes of it is
    /// checked with the probe.
    func templateContradiction(takenName: String?) -> (key: String, problem: String, expected: String)? {
        if let takenName { return ("name", "another template is already named \"\(takenName)\"", "a unique name") }
        guard !scrapeTargets.isEmpty else { return nil }
        // What a path must be is watched for each probe, and a scrape's target is not known before.
        if condition.linkClass != nil { return ("class", "scrapes ask for no path", "no class, or no scrape_targets") }
        if when != .any { return ("when", "scrapes ask for no path", "no when, or no scrape_targets") }
        if redirects ?? 0 > 0 {
            return ("redirects", "a redirect may leave scrape_targets", "no redirects, or no scrape_targets")
        }
        return scrapeTargets.lazy.compactMap { misplacedKey(for: $0.kind) }.first
    }
}
