public import HTTPTypes
internal import ReachCore

/// Header fields by names that are text, as AFNetworking has them. `HTTPField` replaces what cannot be in a value by
/// spaces; these members throw instead, so that nothing else is sent than what was written.
extension HTTPFields {
    /// Header fields from a dictionary, in the order of their names.
    ///
    /// - Throws: An error that names the first field whose name or value is invalid.
    public init(_ fields: [String: String]) throws(HTTPHeaderError) {
        self.init()
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) { try set(name, value) }
    }

    /// The value of a field; fields of the same name are joined by commas (RFC 9110, section 5.3), and cookies by
    /// semicolons. `nil` for a text that cannot be a name.
    public subscript(name: String) -> String? { HTTPField.Name(name).flatMap { self[$0] } }

    /// Sets a field, and replaces those of the same name. Space around the value is not part of it.
    ///
    /// A line end in a value could inject further headers or requests, so it is rejected.
    public mutating func set(_ name: String, _ value: String) throws(HTTPHeaderError) {
        guard let valid = HTTPField.Name(name) else { throw HTTPHeaderError(isName: true, name: name) }
        guard Self.canSend(value) else { throw HTTPHeaderError(isName: false, name: name) }
        self[fields: valid] = [HTTPField(name: valid, value: value)]
    }

    /// Removes the fields of a name that is text.
    public mutating func remove(_ name: String) {
        if let name = HTTPField.Name(name) { self[name] = nil }
    }

    /// Adds the fields of `defaults` whose names are not set yet.
    public mutating func complete(from defaults: HTTPFields) {
        // Most requests begin without fields, and then share the storage of the defaults.
        if isEmpty { return self = defaults }
        let present = self
        for field in defaults where !present.contains(field.name) { append(field) }
    }

    /// Sets the given fields, and replaces those of the same names.
    package mutating func replace(with fields: HTTPFields) {
        var names: Set<HTTPField.Name> = []
        for field in fields where names.insert(field.name).inserted {
            self[fields: field.name] = fields[fields: field.name]
        }
    }

    /// Whether a value has no control characters but tabs (RFC 9110, section 5.5).
    static func canSend(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7f) }
    }
}

extension HTTPField {
    /// A field whose value keeps control characters, except for line ends and NUL, which become spaces.
    init(name: Name, unchecked value: String) {
        if Self.isValidValue(value) {
            self.init(name: name, value: value)
        } else {
            self.init(name: name, lenientValue: value.utf8)
        }
    }
}

// MARK: - On the wire

extension HTTPFields {
    /// Most fields that a value holds: HTTPTypes traps at 65,535.
    private static let most = Int(UInt16.max) - 1

    /// Fields as received, in their order; fields of the same name stay separate. Lines whose names are not valid are
    /// left out.
    package init(received fields: some Sequence<(String, String)>) {
        self.init()
        for (name, value) in fields { append(received: name, value) }
    }

    /// Adds a field as received, unless its name is not valid.
    package mutating func append(received name: String, _ value: String) {
        // A server can send more of them within the limit on bytes.
        guard count < Self.most, let name = HTTPField.Name(name) else { return }
        append(HTTPField(name: name, unchecked: value))
    }

    /// Names and values as they are sent: cookies in one field, since servers read only the first one (RFC 6265,
    /// section 5.4).
    ///
    /// - Throws: An error that names a field whose value is not UTF-8, which cannot be stored.
    package func written() throws(HTTPHeaderError) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        fields.reserveCapacity(count)
        var cookie: Int?
        for field in self {
            guard let value = field.withUnsafeBytesOfValue({ String(validating: $0, as: UTF8.self) }) else {
                throw HTTPHeaderError(isName: false, name: field.name.rawName)
            }
            if field.name == .cookie, let cookie {
                fields[cookie].value += "; " + value
                continue
            }
            if field.name == .cookie { cookie = fields.count }
            fields.append((name: field.name.rawName, value: value))
        }
        return fields
    }
}

/// The name or value of a header is invalid.
public struct HTTPHeaderError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Whether the name is invalid; otherwise the value is.
    public let isName: Bool
    /// The field's name as it was given. The value may be secret and is not stored.
    public let name: String

    /// A sentence, safe to display.
    public var description: String {
        let shown = DisplayText.sanitized(name)
        return isName
            ? "'\(shown)' cannot be a header's name" : "the value of '\(shown)' has control characters or is not UTF-8"
    }
}
