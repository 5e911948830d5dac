internal import ReachCore

/// What to say about an unknown key: the key or table that the user probably meant.
enum KeyHint {
    /// - Parameters:
    ///   - path: The table of the key; `nil` at the top of the file.
    ///   - known: The known keys of the table.
    /// - Returns: The problem, and what is expected if no word is near.
    static func text(
        for key: String, in path: String?, known: [String], isTable: Bool
    ) -> (problem: String, expected: String?) {
        let tables = Configuration.tables
        let candidates = isTable && path == nil ? tables.filter { $0.name != nil } : []
        if let meant = NearestWord.find(key, among: candidates.compactMap(\.name)) {
            return ("unknown table; did you mean \(candidates.first { $0.name == meant }?.header ?? meant)?", nil)
        }
        if let meant = NearestWord.find(key, among: known) { return ("unknown key; did you mean '\(meant)'?", nil) }
        if let home = tables.first(where: { $0.name != path && $0.keys.contains(key) }) {
            return ("unknown key; did you mean \(key) below \(home.header)?", nil)
        }
        let words = isTable && path == nil ? candidates.map(\.header) : known
        return (isTable && path == nil ? "unknown table" : "unknown key", "one of " + words.joined(separator: ", "))
    }
}

extension Configuration {
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
