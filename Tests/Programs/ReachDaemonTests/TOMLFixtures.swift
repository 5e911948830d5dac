import ReachDaemon
import ReachTOML

extension TOMLNode.Value {
    /// The value on one line, for tables of test cases.
    var shown: String {
        switch self {
        case .string(let text): text.debugDescription
        case .integer(let number): "\(number)"
        case .float(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .moment: "<date>"
        case .array(let nodes): "[" + nodes.map(\.value.shown).joined(separator: ", ") + "]"
        case .table(let table): table.shown
        case .tables(let tables): "[" + tables.map(\.shown).joined(separator: ", ") + "]"
        }
    }
}

extension TOMLTable {
    var shown: String { "{" + entries.map { "\($0.key): \($0.node.value.shown)" }.joined(separator: ", ") + "}" }
}

extension TOMLDocument {
    /// The parsed text, or else its errors.
    static func shown(_ text: String) -> String {
        let document = parse(Array(text.utf8))
        guard document.errors.isEmpty else {
            return document.errors.map { $0.text(file: "t") }.joined(separator: "\n")
        }
        return document.table.shown
    }

    /// The line and key of each error.
    static func errors(in text: String) -> [String] {
        parse(Array(text.utf8)).errors.map { "\($0.line ?? 0) \($0.key ?? "-")" }
    }
}
