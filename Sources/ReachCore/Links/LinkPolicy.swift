/// What the user says of links, against what `reach` finds out: a HiLink stick is a modem, the hotspot is metered.
package struct LinkPolicy: Hashable, Sendable {
    /// What holds for the interfaces whose name, or one of their alternative names, fits the pattern.
    package struct Rule: Hashable, Sendable {
        package var pattern: Glob
        /// `nil`: this rule does not say.
        package var linkClass: LinkClass?
        /// `nil`: this rule does not say.
        package var isMetered: Bool?

        package init(pattern: Glob, linkClass: LinkClass? = nil, isMetered: Bool? = nil) {
            self.pattern = pattern
            self.linkClass = linkClass
            self.isMetered = isMetered
        }
    }

    /// In order: the first that fits and says it decides.
    package var rules: [Rule]

    package init(rules: [Rule] = []) { self.rules = rules }

    /// The class a rule gives to the interface, or else `found`.
    package func linkClass(
        for name: String, alternativeNames: [String] = [], default found: LinkClass
    ) -> LinkClass {
        first(\.linkClass, for: name, alternativeNames) ?? found
    }

    /// Whether using the interface costs money: as a rule says, or else whether it is a modem.
    package func isMetered(name: String, alternativeNames: [String] = [], class: LinkClass) -> Bool {
        first(\.isMetered, for: name, alternativeNames) ?? `class`.isUsuallyMetered
    }

    /// What the first rule that fits the link says, `nil` if none does.
    package func first<Value>(_ said: (Rule) -> Value?, for link: Link) -> Value? {
        first(said, for: link.name, link.alternativeNames)
    }

    private func first<Value>(_ said: (Rule) -> Value?, for name: String, _ others: [String]) -> Value? {
        for rule in rules {
            guard let value = said(rule) else { continue }
            if rule.pattern.matches(name) || others.contains(where: rule.pattern.matches) { return value }
        }
        return nil
    }
}
