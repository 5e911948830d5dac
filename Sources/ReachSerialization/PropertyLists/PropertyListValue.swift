public import ReachCore

/// The format of a property list.
public enum PropertyListFormat: String, Hashable, Sendable, CaseIterable {
    /// XML, version 1.0: AFNetworking's default.
    case xml
    /// The binary format `bplist00`.
    case binary
}

/// A property list. The old text format of NeXTSTEP is not supported.
public enum PropertyListValue: Hashable, Sendable {
    /// True or false.
    case bool(Bool)
    /// An integer. Unsigned numbers above `Int64.max` are rejected.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A point in time. XML stores whole seconds, the binary format seconds since 2001 as a double.
    case date(Timestamp)
    /// An ordered list of values.
    case array([PropertyListValue])
    /// Values by name.
    case dictionary([String: PropertyListValue])

    /// Parses a list in either format: the binary one begins with `bplist`.
    public init(_ bytes: [UInt8]) throws(PropertyListError) {
        if bytes.starts(with: "bplist".utf8) {
            self = try BinaryPropertyListReader.read(bytes)
        } else {
            self = try XMLPropertyListReader.read(bytes)
        }
    }

    /// Encodes the list. Equal lists are encoded as equal bytes.
    public func bytes(_ format: PropertyListFormat) -> [UInt8] {
        switch format {
        case .xml: XMLPropertyListWriter.write(self)
        case .binary: BinaryPropertyListWriter.write(self)
        }
    }

    /// The maximum depth of arrays and dictionaries.
    static let depthLimit = 128
}

/// The reason why bytes are no property list, or an unsupported one.
public enum PropertyListError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Malformed XML.
    case xml(XMLError)
    /// XML that is no property list: the fault, and the line.
    case notAPropertyList(String, line: Int)
    /// A malformed binary list: the fault, and the offset of the byte.
    case damaged(String, offset: Int)
    /// The list exceeds a limit on depth or values; in words.
    case limit(String)

    /// The position and a sentence, safe to display.
    public var description: String {
        switch self {
        case .xml(let error): error.description
        case .notAPropertyList(let what, let line): "line \(line): \(DisplayText.sanitized(what))"
        case .damaged(let what, let offset): "byte \(offset): \(what)"
        case .limit(let what): "more than \(what)"
        }
    }
}
