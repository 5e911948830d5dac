internal import ReachCore

/// Header fields in the order in which they were set. Names are case-insensitive (RFC 9110, section 5.1).
///
/// Two values are equal if they have equal fields in the same order.
public struct HTTPHeaders: Hashable, Sendable {
    /// A name and a value.
    public struct Field: Hashable, Sendable {
        /// The name as it was written.
        public let name: String
        /// The value without surrounding space.
        public let value: String
    }

    /// All fields, in the order on the wire.
    public private(set) var fields: [Field] = []

    /// No fields.
    public init() {}

    /// Fields as received: fields of the same name stay separate, and nothing is checked.
    public init(received fields: [(name: String, value: String)]) {
        self.fields = fields.map { Field(name: $0.name, value: $0.value) }
    }

    /// The value of a field; fields of the same name are joined by commas (RFC 9110, section 5.3).
    public subscript(name: String) -> String? {
        let values = fields.lazy.filter { Self.isSame($0.name, name) }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Sets a field, and replaces those of the same name.
    ///
    /// A line end in a value could inject further headers or requests, so it is rejected.
    public mutating func set(_ name: String, _ value: String) throws(HTTPHeaderError) {
        guard Self.isToken(name) else {
            throw HTTPHeaderError(isName: true, name: name)
        }
        guard value.utf8.allSatisfy(Self.isOfValue) else { throw HTTPHeaderError(isName: false, name: name) }
        put(name, value)
    }

    /// Removes the fields of this name.
    public mutating func remove(_ name: String) { fields.removeAll { Self.isSame($0.name, name) } }

    /// Sets a field that is known to be valid.
    mutating func put(_ name: String, _ value: String) {
        let place = fields.firstIndex { Self.isSame($0.name, name) }
        remove(name)
        fields.insert(Field(name: name, value: value), at: place ?? fields.endIndex)
    }

    /// Adds the fields of `defaults` whose names are not set yet.
    public mutating func complete(from defaults: HTTPHeaders) {
        for field in defaults.fields where self[field.name] == nil { fields.append(field) }
    }

    private static func isSame(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8) { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { 65...90 ~= byte ? byte | 0x20 : byte }

    /// RFC 9110, section 5.5: no control characters but tabs.
    private static func isOfValue(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\t") || (byte >= 0x20 && byte != 0x7f)
    }

    /// RFC 9110, section 5.6.2.
    static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isOfToken) }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
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
        return isName ? "'\(shown)' cannot be a header's name" : "the value of '\(shown)' has control characters"
    }
}
