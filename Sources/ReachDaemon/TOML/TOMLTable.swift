/// A value of a TOML document, and where it stands.
package struct TOMLNode {
    package enum Value {
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date, a time, or both: reach has no key that takes one.
        case moment
        case array([TOMLNode])
        case table(TOMLTable)
        /// An array that `[[headers]]` make.
        case tables([TOMLTable])
    }

    package let value: Value
    package let line: Int
}

/// A table of a TOML document: its keys in the order in which the file has them.
package struct TOMLTable {
    package struct Entry {
        package let key: String
        /// Where the key stands; its value may begin and end on other lines.
        package let line: Int
        package let node: TOMLNode
    }

    package let entries: [Entry]
    package let line: Int

    package subscript(key: String) -> Entry? { entries.first { $0.key == key } }
}
