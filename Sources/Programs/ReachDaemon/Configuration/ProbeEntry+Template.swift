internal import ReachCore
internal import ReachProbe
internal import ReachTOML

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
