internal import ReachCore

/// Reads the members of an object that a host wrote.
///
/// It skips unknown keys. A known key with another type is an error. Every text that it returns is bounded, and shows
/// control characters instead of having them, so that no reader can forget to.
struct WireReader {
    /// The longest text unless a key has another limit, in bytes of UTF-8.
    static let textLimit = 256
    /// The most elements of a list and members of an object.
    static let listLimit = 1024

    private let document: JSONOutline
    private let node: Int
    private let path: String

    /// Reads one document.
    ///
    /// - Parameter limit: The most bytes that such a value has.
    init(_ bytes: [UInt8], limit: Int) throws(WireError) {
        guard bytes.count <= limit else { throw .tooLarge(limit: limit) }
        do throws(JSONError) {
            try self.init(JSONReader.outline(bytes))
        } catch {
            throw .notAnObject(error.description)
        }
        if let version = try number("v", Int64.self), version != 1 { throw .unknownVersion }
    }

    init(_ document: JSONOutline, _ node: Int = JSONOutline.root, path: String = "") throws(JSONError) {
        guard document.kind(of: node) == .object else { throw JSONError(.expected("an object"), at: 0) }
        self.document = document
        self.node = node
        self.path = path
    }

    func fault(_ name: StaticString) -> WireError { .badKey(path + name.description) }

    // MARK: - Members

    func text(_ name: StaticString, limit: Int = textLimit) throws(WireError) -> String? {
        try member(name, document.string).map { Self.bounded($0, limit: limit) }
    }

    func requiredText(_ name: StaticString) throws(WireError) -> String {
        guard let text = try text(name) else { throw fault(name) }
        return text
    }

    func flag(_ name: StaticString) throws(WireError) -> Bool { try member(name, document.bool) ?? false }

    /// A whole number within the range of its type.
    func number<Number: FixedWidthInteger>(
        _ name: StaticString, _: Number.Type = Number.self
    ) throws(WireError) -> Number? {
        guard let wide = try member(name, document.integer) else { return nil }
        guard let number = Number(exactly: wide) else { throw fault(name) }
        return number
    }

    /// A number with or without a fraction.
    func fraction(_ name: StaticString) throws(WireError) -> Double? {
        try member(name) { node in document.double(node) ?? document.integer(node).map(Double.init) }
    }

    /// A word; `nil` for one that this version does not know.
    func word<Word: RawRepresentable>(
        _ name: StaticString, _: Word.Type = Word.self
    ) throws(WireError) -> Word? where Word.RawValue == String {
        try member(name, document.string).flatMap { Word(rawValue: $0) }
    }

    func time(_ name: StaticString) throws(WireError) -> Timestamp? {
        guard let text = try member(name, document.string) else { return nil }
        guard let time = Timestamp(text) else { throw fault(name) }
        return time
    }

    /// The keys `time` and `boottime_ns` of every object.
    func instant() throws(WireError) -> Instant {
        guard let time = try time("time") else { throw fault("time") }
        guard let nanoseconds: Int64 = try number("boottime_ns"), nanoseconds >= 0 else { throw fault("boottime_ns") }
        return Instant(wall: time, boot: BootTime(nanoseconds: nanoseconds))
    }

    func object(_ name: StaticString) throws(WireError) -> WireReader? {
        guard let member = document.member(name, of: node), document.kind(of: member) != .null else { return nil }
        guard let reader = try? WireReader(document, member, path: path + name.description + ".") else {
            throw fault(name)
        }
        return reader
    }

    func texts(_ name: StaticString, most: Int = listLimit, limit: Int = textLimit) throws(WireError) -> [String] {
        guard let elements = try members(name, .array) else { return [] }
        let texts = elements.prefix(most).compactMap(document.string)
        guard texts.count == min(elements.count, most) else { throw fault(name) }
        return texts.map { Self.bounded($0, limit: limit) }
    }

    /// An object whose members are texts.
    func textsByName(
        _ name: StaticString, most: Int = listLimit, limit: Int = textLimit
    ) throws(WireError) -> [String: String] {
        guard let members = try members(name, .object), !members.isEmpty else { return [:] }
        let kept = members.map { (key: document.key(of: $0), node: $0) }.sorted { $0.key < $1.key }.prefix(most)
        var texts = [String: String](minimumCapacity: kept.count)
        for (key, node) in kept {
            guard let text = document.string(node) else { throw fault(name) }
            texts[Self.bounded(key, limit: limit)] = Self.bounded(text, limit: limit)
        }
        return texts
    }

    private func members(_ name: StaticString, _ kind: JSONOutline.Kind) throws(WireError) -> [Int]? {
        try member(name) { document.kind(of: $0) == kind ? document.children(of: $0) : nil }
    }

    private func member<Value>(_ name: StaticString, _ type: (Int) -> Value?) throws(WireError) -> Value? {
        guard let member = document.member(name, of: node), document.kind(of: member) != .null else { return nil }
        guard let value = type(member) else { throw fault(name) }
        return value
    }

    // MARK: - Texts

    /// The text, cut after `limit` bytes at a character's end, with control characters shown.
    static func bounded(_ text: String, limit: Int) -> String {
        guard text.utf8.count > limit else { return DisplayText.sanitized(text) }
        var end = text.startIndex
        var bytes = 0
        while end < text.endIndex {
            bytes += text[end].utf8.count
            if bytes > limit { break }
            text.formIndex(after: &end)
        }
        return DisplayText.sanitized(String(text[..<end]))
    }

    /// The document with every text and key as ``bounded(_:limit:)`` returns it.
    static func bounded(_ json: JSONValue) -> JSONValue {
        switch json {
        case .string(let text): return .string(bounded(text, limit: 1024))
        case .array(let elements): return .array(elements.prefix(listLimit).map(bounded))
        case .object(let members):
            var kept: [String: JSONValue] = [:]
            for (name, member) in members { kept[bounded(name, limit: textLimit)] = bounded(member) }
            return .object(kept)
        case .null, .bool, .integer, .double: return json
        }
    }
}

/// The reason why bytes from the engine are not a value of the fleet. Any host may have written them, so a reader
/// counts such a message and continues.
package enum WireError: Error, Hashable, Sendable, CustomStringConvertible {
    /// More bytes than such a value has.
    case tooLarge(limit: Int)
    /// Not one JSON object.
    case notAnObject(String)
    /// A key of the object is missing, or has another type or a value that it cannot have.
    case badKey(String)
    /// A header of the message is missing, or is not what it should be.
    case badHeader(String)
    /// A newer version of the format, of which nothing may be assumed.
    case unknownVersion

    package var description: String {
        switch self {
        case .tooLarge(let limit): "more than \(limit) bytes"
        case .notAnObject(let why): "not a JSON object: \(why)"
        case .badKey(let key): "'\(DisplayText.sanitized(key))' is missing or not as it should be"
        case .badHeader(let name): "the header '\(name)' is missing or not as it should be"
        case .unknownVersion: "the format is of a newer version"
        }
    }
}
