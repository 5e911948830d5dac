package import ReachCore
package import ReachProbe

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
    package var down = ProbeSpecification.Thresholds().down
    package var up = ProbeSpecification.Thresholds().up
    package var condition = NetworkCondition.any
    /// What the path must be, beyond `interface` and `class`.
    package var when = NetworkCondition.any
    package var family: Family?
    package var method: ProbeSpecification.Method?
    package var headers: [HeaderField] = []
    package var redirects: Int?
    package var anyCertificate: Bool?
    package var status: HTTPStatusSet?
    package var header: HeaderField?
    package var bodyContains: String?
    package var bodyPrefix: String?
    package var json: [JSONCondition] = []
    package var certificateDays: Int?
    package var latency: Duration?
    package var burst: Int?
    package var burstOnMetered: Bool?
    package var lossPercent: Int?
    package var responseCode: DNSResponseCode?
    package var answers: [String] = []

    package init() {}

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
        specification.thresholds = .init(down: down, up: up)
        specification.condition = whole
        specification.family = family.map { $0 == .ipv4 ? .ipv4 : .ipv6 }
        specification.method = method ?? .get
        specification.headers = headers
        specification.redirects = redirects ?? 0
        specification.acceptsAnyCertificate = anyCertificate ?? false
        specification.burst = burst
        specification.burstsOnMetered = burstOnMetered ?? false
        specification.expected = expected
        return specification
    }

    /// All that the path must be.
    private var whole: NetworkCondition {
        var whole = when
        whole.interface = condition.interface ?? when.interface
        whole.linkClass = condition.linkClass ?? when.linkClass
        return whole
    }

    private var expected: ExpectedAnswer {
        var expected = ExpectedAnswer()
        expected.status = status ?? .success
        expected.header = header
        expected.bodyContains = bodyContains
        expected.bodyPrefix = bodyPrefix
        expected.json = json
        expected.certificateDays = certificateDays
        expected.latency = latency
        expected.lossPercent = lossPercent
        expected.responseCode = responseCode ?? .noError
        expected.answers = answers
        return expected
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
        if burst == nil, lossPercent != nil { return ("loss_percent", "burst is not set", "both keys") }
        if burst != nil, let probe = specifications.first,
            probe.sendingTime + Self.leastAnswerTime > probe.effectiveTimeout
        {
            let (sends, may) = (probe.sendingTime, probe.effectiveTimeout)
            return (
                "burst",
                "its requests are sent over \(DurationText.describe(sends)), and an attempt may take \(DurationText.describe(may))",
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
            ("status", status != nil, web), ("header", header != nil, web),
            ("body_contains", bodyContains != nil, web), ("body_prefix", bodyPrefix != nil, web),
            ("json", !json.isEmpty, web),
            ("burst", burst != nil, [.icmp]), ("burst_on_metered", burstOnMetered != nil, [.icmp]),
            ("loss_percent", lossPercent != nil, [.icmp]),
            ("certificate_days", certificateDays != nil, secure), ("any_certificate", anyCertificate != nil, secure),
            ("response_code", responseCode != nil, [.dns]), ("answers", !answers.isEmpty, [.dns]),
        ]
    }
}

extension Configuration {
    /// The configured probes, in the order of the file.
    package var probeSpecifications: [ProbeSpecification] { probes.flatMap(\.specifications) }
}
