internal import CToml

/// The result of parsing a text with toml++: its tables, or the first syntax error.
enum TOMLTree {
    case table(TOMLTable)
    case syntaxError(line: Int, description: String)
    /// Values and keys are nested more deeply than ``depthLimit``.
    case tooDeep(line: Int)

    /// The limit of nested keys and values. A configuration needs three; toml++ accepts 64 nested values, each with a
    /// key of 64 parts.
    static let depthLimit = 128

    static func parse(_ text: some Collection<UInt8>) -> TOMLTree {
        let document = withBytes(of: text) { reach_toml_parse($0.baseAddress, $0.count) }
        defer { reach_toml_free(document) }
        var place = reach_toml_place()
        let mistake = reach_toml_mistake(document, &place)
        if mistake.bytes != nil { return .syntaxError(line: Int(place.line), description: string(mistake)) }
        guard let root = reach_toml_root(document) else { return .syntaxError(line: 1, description: "") }
        do throws(TooDeep) {
            return .table(try table(root, depth: 0))
        } catch {
            return .tooDeep(line: error.line)
        }
    }

    private struct TooDeep: Error {
        let line: Int
    }

    private typealias Item = (key: String, place: reach_toml_place, node: OpaquePointer)

    private static func node(_ node: OpaquePointer, depth: Int) throws(TooDeep) -> TOMLNode {
        let line = Int(reach_toml_place_of(node).line)
        guard depth <= depthLimit else { throw TooDeep(line: line) }
        let value: TOMLNode.Value
        switch reach_toml_kind_of(node) {
        case REACH_TOML_STRING: value = .string(string(reach_toml_string(node)))
        case REACH_TOML_INTEGER: value = .integer(reach_toml_integer(node))
        case REACH_TOML_FLOAT: value = .float(reach_toml_float(node))
        case REACH_TOML_BOOLEAN: value = .boolean(reach_toml_boolean(node))
        case REACH_TOML_ARRAY:
            var elements: [TOMLNode] = []
            for item in self.elements(of: node) { elements.append(try self.node(item.node, depth: depth + 1)) }
            value = .array(elements)
        case REACH_TOML_TABLES:
            var tables: [TOMLTable] = []
            for item in elements(of: node) { tables.append(try table(item.node, depth: depth + 1)) }
            value = .tables(tables)
        case REACH_TOML_TABLE: value = .table(try table(node, depth: depth))
        default: value = .moment
        }
        return TOMLNode(value: value, line: line)
    }

    private static func table(_ node: OpaquePointer, depth: Int) throws(TooDeep) -> TOMLTable {
        // toml++ sorts entries by name.
        let items = entries(of: node).sorted { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
        var entries: [TOMLTable.Entry] = []
        for item in items {
            let node = try self.node(item.node, depth: depth + 1)
            entries.append(TOMLTable.Entry(key: item.key, line: Int(item.place.line), node: node))
        }
        return TOMLTable(entries: entries, line: Int(reach_toml_place_of(node).line))
    }

    private static func entries(of table: OpaquePointer) -> [Item] {
        let visitor = Visitor()
        reach_toml_each_entry(table, Unmanaged.passUnretained(visitor).toOpaque(), Visitor.visit)
        return visitor.items
    }

    private static func elements(of array: OpaquePointer) -> [Item] {
        let visitor = Visitor()
        reach_toml_each_element(array, Unmanaged.passUnretained(visitor).toOpaque(), Visitor.visit)
        return visitor.items
    }

    private final class Visitor {
        var items: [Item] = []

        static let visit: reach_toml_visitor = { context, key, place, node in
            guard let context, let node else { return }
            Unmanaged<Visitor>.fromOpaque(context).takeUnretainedValue().items.append((string(key), place, node))
        }
    }

    private static func string(_ text: reach_toml_text) -> String {
        let bytes = UnsafeRawBufferPointer(start: text.bytes, count: text.count)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func withBytes<Result>(
        of text: some Collection<UInt8>, _ body: (UnsafeBufferPointer<CChar>) -> Result
    ) -> Result {
        func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result {
            bytes.withMemoryRebound(to: CChar.self, body)
        }
        return text.withContiguousStorageIfAvailable(read) ?? Array(text).withUnsafeBufferPointer(read)
    }
}
