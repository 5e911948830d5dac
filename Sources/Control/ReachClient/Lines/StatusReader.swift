package import ReachCore

/// A fault in a JSON object that should be a status, an event, a link or a probe.
package struct StatusReadingError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key at fault, preceded by those of the enclosing objects: `ipv4.status`.
    package let key: String

    package init(key: String) { self.key = key }

    package var description: String { "'\(key)' is missing or not as it should be" }
}

/// Reads the members of an object from a daemon that may be newer than this program. It skips unknown keys, and gives
/// unknown words the weakest meaning. A known key with another type is an error.
package struct StatusReader {
    private let object: JSONValue
    private let path: String
    /// The first fault of a member that ``JSONMembers`` named.
    package private(set) var firstFault: StatusReadingError?

    package init(_ object: JSONValue, path: String = "") throws(StatusReadingError) {
        guard case .object = object else { throw StatusReadingError(key: path.isEmpty ? "the object" : path) }
        self.object = object
        self.path = path
    }

    package func fault(_ name: String) -> StatusReadingError { StatusReadingError(key: key(name)) }

    /// The key of a member, preceded by those of the enclosing objects.
    package func key(_ name: String) -> String { path.isEmpty ? name : path + "." + name }

    mutating func keep(_ fault: StatusReadingError) { firstFault = firstFault ?? fault }

    /// - Returns: `nil` where the member is missing or null.
    package func member(_ name: String) -> JSONValue? { object[name] }

    /// A member that may be missing or null.
    package func optional<Value>(_ name: String, _ type: (JSONValue) -> Value?) throws(StatusReadingError)
        -> Value?
    {
        guard let member = object[name] else { return nil }
        guard let value = type(member) else { throw fault(name) }
        return value
    }

    package func value<Value>(_ name: String, _ type: (JSONValue) -> Value?) throws(StatusReadingError) -> Value {
        guard let value = try optional(name, type) else { throw fault(name) }
        return value
    }

    package func object(_ name: String) throws(StatusReadingError) -> StatusReader {
        guard let member = object[name] else { throw fault(name) }
        return try StatusReader(member, path: key(name))
    }

    /// A whole number within the range of its type.
    package func number<Number: FixedWidthInteger>(_ name: String) throws(StatusReadingError) -> Number? {
        guard let wide = try optional(name, \.integer) else { return nil }
        guard let number = Number(exactly: wide) else { throw fault(name) }
        return number
    }

    /// A word; `nil` for one that this version does not know.
    package func word<Word: RawRepresentable>(
        _ name: String, _ type: Word.Type = Word.self
    ) throws(StatusReadingError) -> Word? where Word.RawValue == String {
        try optional(name, \.string).flatMap { Word(rawValue: $0) }
    }

    package func time(_ name: String) throws(StatusReadingError) -> Timestamp {
        guard let time = Timestamp(try value(name, \.string)) else { throw fault(name) }
        return time
    }

    package func moment() throws(StatusReadingError) -> Instant {
        let nanoseconds = try value("boottime_ns", \.integer)
        return Instant(wall: try time("time"), boot: BootTime(nanoseconds: nanoseconds))
    }

    package func texts(_ name: String) throws(StatusReadingError) -> [String] {
        guard let elements = try optional(name, \.array) else { return [] }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw fault(name) }
        return texts
    }
}
