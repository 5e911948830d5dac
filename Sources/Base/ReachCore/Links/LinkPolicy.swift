/// The user's rules about links, which override what `reach` detects: a HiLink stick is a modem, a hotspot is metered.
package struct LinkPolicy: Hashable, Sendable {
    /// A rule for the interfaces whose name, or one of whose alternative names, matches the pattern.
    package struct Rule: Hashable, Sendable {
        package var pattern: Glob
        /// The class of these links; `nil` if the rule does not set it.
        package var linkClass: LinkClass?
        /// Whether these links are metered; `nil` if the rule does not set it.
        package var isMetered: Bool?
        /// Whether packets may leave by these links past a tunnel that the kernel would choose.
        package var passesTunnels: Bool?

        package init(
            pattern: Glob, linkClass: LinkClass? = nil, isMetered: Bool? = nil, passesTunnels: Bool? = nil
        ) {
            self.pattern = pattern
            self.linkClass = linkClass
            self.isMetered = isMetered
            self.passesTunnels = passesTunnels
        }
    }

    /// The rules in order: the first that matches and sets a property decides about it.
    package var rules: [Rule]
    /// The networks that the user names.
    package var networks: NetworkPolicy

    package init(rules: [Rule] = [], networks: NetworkPolicy = NetworkPolicy()) {
        self.rules = rules
        self.networks = networks
    }

    /// The rules of a program: classes by patterns of names. If several patterns match, the alphabetically first
    /// applies.
    package init(linkClasses: [String: LinkClass]) {
        self.init(
            rules: linkClasses.sorted { $0.key < $1.key }.map { Rule(pattern: Glob($0.key), linkClass: $0.value) })
    }

    /// Whether packets may leave by some links past a tunnel.
    package var letsAnyPassTunnels: Bool { rules.contains { $0.passesTunnels == true } }

    /// The value from the first matching rule that sets it; `nil` if there is none.
    package func first<Value>(_ property: (Rule) -> Value?, for link: Link) -> Value? {
        first(property, for: link.name, link.alternativeNames)
    }

    package func first<Value>(_ property: (Rule) -> Value?, for name: String, _ others: [String] = []) -> Value? {
        for rule in rules {
            guard let value = property(rule) else { continue }
            if rule.pattern.matches(name) || others.contains(where: rule.pattern.matches) { return value }
        }
        return nil
    }
}
