internal import ReachCore

/// Suggests the key or table that the user probably meant.
enum KeyHint {
    /// - Parameters:
    ///   - path: The table of the key; `nil` at the top of the file.
    ///   - known: The known keys of the table.
    static func text(for key: String, in path: String?, known: [String], isTable: Bool) -> String {
        let tables = Configuration.tables
        let candidates = isTable && path == nil ? tables.filter { $0.name != nil } : []
        if let meant = NearestWord.find(key, among: candidates.compactMap(\.name)) {
            return "\(candidates.first { $0.name == meant }?.header ?? meant), which is the nearest table"
        }
        if let meant = NearestWord.find(key, among: known) { return "\(meant), which is the nearest key" }
        if let home = tables.first(where: { $0.name != path && $0.keys.contains(key) }) {
            return "\(key) below \(home.header)"
        }
        let words = isTable && path == nil ? candidates.map(\.header) : known
        return "one of " + words.joined(separator: ", ")
    }
}
