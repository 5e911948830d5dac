public import Foundation
internal import Synchronization

/// A property list: any that Foundation reads and writes, except the old text format of NeXTSTEP.
public enum PropertyListValue: Hashable, Sendable {
    /// True or false.
    case bool(Bool)
    /// An integer. Foundation does not distinguish a real number with an integral value from an integer: it is read as
    /// one.
    case integer(Int64)
    /// A number with a fraction, or one beyond 64 bits.
    case real(Double)
    /// Text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A point in time. XML stores whole seconds.
    case date(Date)
    /// An ordered list of values.
    case array([PropertyListValue])
    /// Values by name. If a name occurs twice, one of its values counts.
    case dictionary([String: PropertyListValue])

    /// Parses a list in either format. The binary one begins with `bplist`.
    ///
    /// - Throws: Foundation's error; also for a list with more than 128 levels, or with so many references to the same
    ///   objects that its size explodes.
    public init(_ bytes: [UInt8]) throws {
        let data = Data(bytes)
        if !bytes.starts(with: "bplist".utf8) {
            try Self.checkXML(bytes)
            // It limits the nesting of XML. PropertyListDecoder does not, and its stack overflows.
            _ = try PropertyListSerialization.propertyList(from: data, format: nil)
        }
        let decoder = PropertyListDecoder()
        if let key = ValueBudget.key { decoder.userInfo[key] = ValueBudget(max(bytes.count * 4, 1024)) }
        self = try decoder.decode(PropertyListValue.self, from: data)
    }

    /// Encodes the list. Equal lists are encoded as equal bytes.
    ///
    /// - Throws: Foundation's error.
    public func bytes(_ format: PropertyListFormat) throws -> [UInt8] {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        return Array(try encoder.encode(self))
    }

    /// Excludes the old text format, whose nesting Foundation does not limit: it has no tag in front.
    private static func checkXML(_ bytes: [UInt8]) throws {
        let mark: [UInt8] = [0xef, 0xbb, 0xbf]
        let text = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0)
        guard text.first(where: { ![0x20, 0x9, 0xa, 0xd].contains($0) }) == UInt8(ascii: "<") else {
            throw PropertyListError.corrupt("neither XML in UTF-8 nor binary")
        }
    }

    /// The maximum depth of arrays and dictionaries.
    fileprivate static let depthLimit = 128
}

/// The format of a property list.
public enum PropertyListFormat: String, Hashable, Sendable, CaseIterable {
    /// XML, version 1.0: AFNetworking's default.
    case xml
    /// The binary format `bplist00`.
    case binary
}

/// The reason why bytes are no property list that this library reads.
private enum PropertyListError: Error, CustomStringConvertible {
    case corrupt(String)
    case limit(String)

    var description: String {
        switch self {
        case .corrupt(let what): what
        case .limit(let what): "more than \(what)"
        }
    }
}

/// The number of values that a list may still have. Objects of a binary list refer to each other by number, so that a
/// few bytes can encode a tree of millions of values. Used by one decoder, on one thread.
private final class ValueBudget: Sendable {
    static let key = CodingUserInfoKey(rawValue: "io.reach.values")
    private let values: Mutex<Int>
    private let limit: Int

    init(_ limit: Int) {
        self.limit = limit
        values = Mutex(0)
    }

    func countValue() throws {
        guard
            values.withLock({
                $0 += 1; return $0 <= limit
            })
        else { throw PropertyListError.limit("\(limit) values") }
    }
}

extension PropertyListValue: Codable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Decodes any value. Use ``init(_:)`` for bytes from elsewhere: its limits apply only there.
    public init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.depthLimit else {
            throw PropertyListError.limit("\(Self.depthLimit) levels")
        }
        if let key = ValueBudget.key { try (decoder.userInfo[key] as? ValueBudget)?.countValue() }
        if let container = try? decoder.container(keyedBy: Name.self) {
            var members: [String: PropertyListValue] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(Self.self, forKey: key) }
            self = .dictionary(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [PropertyListValue] = []
            while !container.isAtEnd { elements.append(try container.decode(Self.self)) }
            self = .array(elements)
        } else {
            self = try Self.single(decoder.singleValueContainer())
        }
    }

    private static func single(_ container: any SingleValueDecodingContainer) throws -> PropertyListValue {
        if let flag = try? container.decode(Bool.self) { return .bool(flag) }
        if let number = try? container.decode(Int64.self) { return .integer(number) }
        if let number = try? container.decode(Double.self) { return .real(number) }
        if let text = try? container.decode(String.self) { return .string(text) }
        if let date = try? container.decode(Date.self) { return .date(date) }
        return .data(try container.decode(Data.self))
    }

    /// Encodes the value without a wrapper.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let flag): try container.encode(flag)
        case .integer(let number): try container.encode(number)
        case .real(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .data(let data): try container.encode(data)
        case .date(let date): try container.encode(date)
        case .array(let elements): try container.encode(elements)
        case .dictionary(let members): try container.encode(members)
        }
    }
}
