internal import ReachCore
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
    }

    /// A contradiction in a template: the key to report, the problem, and what is expected. What a probe makes of it is checked
    /// with the probe.
    func templateContradiction(takenName: String?) -> (key: String, problem: String, expected: String)? {
        guard let takenName else { return nil }
        return ("name", "another template is already named \"\(takenName)\"", "a unique name")
    }
}
