/// A value of a TOML document, and where it stands.
package struct TOMLNode {
    package enum Value {
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date, a time, or both, as written: reach has no key that takes one.
        case moment(String)
        case array([TOMLNode])
        case table(TOMLTable)
        /// An array made of `[[headers]]`.
        case tables(TOMLTableList)
    }

    package let value: Value
    package let line: Int
}

/// A table of a TOML document: its keys in the order in which they were written.
///
/// A class, since headers and dotted keys come back to tables that were begun before, anywhere in the tree.
package final class TOMLTable {
    /// What brought a table about decides what may still be added to it.
    enum Origin {
        /// Only named on the way to another one: `a` in `[a.b]`.
        case implicit
        /// `[a]`, or an element of `[[a]]`, or the document.
        case header
        /// `a` in `a.b = 1`.
        case dotted
        /// `{ ... }`: complete.
        case inline
    }

    package struct Entry {
        package let key: String
        /// Where the key stands; its value may begin and end on other lines.
        package let line: Int
        package let node: TOMLNode
    }

    package private(set) var entries: [Entry] = []
    package let line: Int
    var origin: Origin
    private var places: [String: Int] = [:]

    init(_ origin: Origin, line: Int) {
        self.origin = origin
        self.line = line
    }

    package subscript(key: String) -> Entry? { places[key].map { entries[$0] } }

    /// The key is not there yet.
    func add(_ key: String, _ value: TOMLNode.Value, line: Int) {
        places[key] = entries.count
        entries.append(Entry(key: key, line: line, node: TOMLNode(value: value, line: line)))
    }
}

/// The tables that `[[name]]` headers made.
package final class TOMLTableList {
    package fileprivate(set) var tables: [TOMLTable] = []

    func append(_ table: TOMLTable) { tables.append(table) }
}
