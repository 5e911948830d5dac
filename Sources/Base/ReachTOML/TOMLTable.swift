/// A value of a TOML document, and its line.
package struct TOMLNode {
    package enum Value {
        case string(String)
        case integer(Int64)
        case float(Double)
        case boolean(Bool)
        /// A date, a time, or both. No key of reach accepts one.
        case moment
        case array([TOMLNode])
        case table(TOMLTable)
        /// An array of tables with `[[headers]]`.
        case tables([TOMLTable])

        package var text: String? {
            guard case .string(let text) = self else { return nil }
            return text
        }
    }

    package let value: Value
    package let line: Int
}

/// A table of a TOML document, with its keys in the order of the file.
package struct TOMLTable {
    package struct Entry {
        package let key: String
        /// The key's line; its value may begin and end on other lines.
        package let line: Int
        package let node: TOMLNode
    }

    package let entries: [Entry]
    package let line: Int

    package subscript(key: String) -> Entry? { entries.first { $0.key == key } }
}
