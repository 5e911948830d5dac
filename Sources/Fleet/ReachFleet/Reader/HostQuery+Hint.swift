internal import ReachCore

extension HostQuery {
    /// Why the query means none of these hosts, where a word of it fits none of them: `no host has site=berlni; did you
    /// mean 'site=berlin'?`
    ///
    /// - Returns: `nil` if each word fits some host.
    package func hint(among hosts: [RosterHost]) -> String? { Self.hint(node, hosts) }

    private static func hint(_ node: Node, _ hosts: [RosterHost]) -> String? {
        switch node {
        case .all(let nodes): return nodes.lazy.compactMap { hint($0, hosts) }.first
        case .any(let nodes):
            let hints = nodes.map { hint($0, hosts) }
            return hints.allSatisfy { $0 != nil } ? hints.first ?? nil : nil
        // What fits none is no restriction here.
        case .not: return nil
        case .has(let label): return hint(ofLabel: label, hosts)
        case .compare(let field, let pattern): return hint(field, pattern, hosts)
        }
    }

    private static func hint(_ field: Field, _ pattern: Glob, _ hosts: [RosterHost]) -> String? {
        let name: String
        let values: [String]
        switch field {
        case .host: (name, values) = ("host", hosts.map(\.id))
        case .group: (name, values) = ("group", hosts.flatMap(\.groups))
        case .label(let label):
            (name, values) = (label, hosts.compactMap { $0.labels[label] })
            if values.isEmpty { return hint(ofLabel: label, hosts) }
        case .state:
            let words = HostWord.allCases.map(\.shown) + [HostWord.here.rawValue, HostPresence.degraded]
            return hint(ofWord: pattern, "state", words)
        case .linkClass: return hint(ofWord: pattern, "class", LinkClass.allCases.map(\.rawValue))
        // These change.
        case .name, .version: return nil
        }
        guard !values.contains(where: { pattern.matches($0) }) else { return nil }
        let text = DisplayText.sanitized(pattern.pattern)
        let near = NearestWord.find(pattern.pattern, among: Set(values).sorted())
        return "no host has \(name)=\(text)"
            + (near.map { "; did you mean '\(name)=\(DisplayText.sanitized($0))'?" } ?? "")
    }

    /// Of a field that has one of a few words, whether or not a host has it now.
    private static func hint(ofWord pattern: Glob, _ name: String, _ words: [String]) -> String? {
        guard !words.contains(where: { pattern.matches($0) }) else { return nil }
        return "no \(name) is '\(DisplayText.sanitized(pattern.pattern))'"
            + NearestWord.hint(for: pattern.pattern, among: words.sorted())
    }

    private static func hint(ofLabel label: String, _ hosts: [RosterHost]) -> String? {
        let names = Set(hosts.flatMap { $0.labels.keys })
        guard !names.contains(label) else { return nil }
        let others = names.union(["host", "name", "group", "state", "class", "version"]).sorted()
        return "no host has a label '\(DisplayText.sanitized(label))'" + NearestWord.hint(for: label, among: others)
    }
}
