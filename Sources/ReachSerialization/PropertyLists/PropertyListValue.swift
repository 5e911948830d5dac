public import ReachCore

/// How a property list is written.
public enum PropertyListFormat: String, Hashable, Sendable, CaseIterable {
    /// Version 1.0, which is what AFNetworking sends unless told otherwise.
    case xml
    /// `bplist00`.
    case binary
}

/// A property list. The old text form of NeXTSTEP is not read.
public enum PropertyListValue: Hashable, Sendable {
    /// True or false.
    case bool(Bool)
    /// A whole number. Those above `Int64.max`, which unsigned numbers reach, are refused.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data([UInt8])
    /// A point in time. XML has whole seconds, the binary form doubles since 2001.
    case date(Timestamp)
    /// Values in an order.
    case array([PropertyListValue])
    /// Values by their names.
    case dictionary([String: PropertyListValue])

    /// Reads a list of either form: the binary one begins with `bplist`.
    public init(_ bytes: [UInt8]) throws(PropertyListError) {
        if bytes.starts(with: "bplist".utf8) {
            self = try BinaryPropertyListReader.read(bytes)
        } else {
            self = try XMLPropertyListReader.read(bytes)
        }
    }

    /// Writes the list: equal lists as equal bytes.
    public func bytes(_ format: PropertyListFormat) -> [UInt8] {
        switch format {
        case .xml: XMLPropertyListWriter.write(self)
        case .binary: BinaryPropertyListWriter.write(self)
        }
    }

    /// Levels of arrays and dictionaries that are read.
    static let depthLimit = 128
}

/// Why bytes are no property list, or none that is read here.
public enum PropertyListError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Not even XML.
    case xml(XMLError)
    /// XML that is no property list: what is wrong, and the line.
    case notAPropertyList(String, line: Int)
    /// A binary list that contradicts itself: what is wrong, and the byte.
    case damaged(String, offset: Int)
    /// Deeper, or with more values, than is read from anybody; in words.
    case limit(String)

    /// The place and a sentence, safe to show.
    public var description: String {
        switch self {
        case .xml(let error): error.description
        case .notAPropertyList(let what, let line): "line \(line): \(DisplayText.sanitized(what))"
        case .damaged(let what, let offset): "byte \(offset): \(what)"
        case .limit(let what): "more than \(what)"
        }
    }
}
