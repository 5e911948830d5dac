/// A JSON document as it lies in its bytes. It was read strictly, once; a value is made when someone asks for it.
///
/// For readers of many documents who want some members of each: it makes no dictionary, and no text that no one asks
/// for. ``JSONReader/outline(_:_:)`` makes it. A class, since a reader of nested objects hands it on for each.
package final class JSONOutline: Sendable {
    package enum Kind: UInt8, Sendable {
        case null
        case bool
        case integer
        case double
        case string
        case array
        case object
    }

    /// A value, and its key if it is an object's member. Its elements or members follow it, each with what is in it.
    struct Node: Sendable {
        var kind: Kind = .null
        /// The text had escapes: `first` is its index in ``texts``. Otherwise the text is the bytes from `first` to
        /// `end`.
        var hasEscapes = false
        var keyHasEscapes = false
        /// The index of the node after this value and what is in it.
        var next: UInt32 = 0
        var keyFirst: UInt32 = 0
        var keyEnd: UInt32 = 0
        /// Differs only if the keys do, so that most others are passed without a look at the bytes.
        var keyTag: UInt32 = 0
        /// A whole number, a double's bits, or 1 for `true`; of a string `first` and `end` in 32 bits each.
        var content: Int64 = 0

        var first: Int { Int(content >> 32) }
        var end: Int { Int(content & 0xffff_ffff) }
    }

    /// The document's own value.
    package static let root = 0

    let bytes: [UInt8]
    let nodes: [Node]
    /// Texts and keys that had escapes.
    let texts: [String]

    init(_ bytes: [UInt8], _ nodes: [Node], _ texts: [String]) {
        self.bytes = bytes
        self.nodes = nodes
        self.texts = texts
    }

    package func kind(of node: Int) -> Kind { nodes[node].kind }

    // MARK: - Values

    package func string(_ node: Int) -> String? {
        let value = nodes[node]
        guard value.kind == .string else { return nil }
        return text(value.first, value.end, value.hasEscapes)
    }

    package func bool(_ node: Int) -> Bool? { nodes[node].kind == .bool ? nodes[node].content != 0 : nil }

    package func integer(_ node: Int) -> Int64? { nodes[node].kind == .integer ? nodes[node].content : nil }

    /// A number with a fraction or an exponent.
    package func double(_ node: Int) -> Double? {
        nodes[node].kind == .double ? Double(bitPattern: UInt64(bitPattern: nodes[node].content)) : nil
    }

    /// The value with all that is in it.
    package func value(_ node: Int = JSONOutline.root) -> JSONValue {
        switch nodes[node].kind {
        case .null: return .null
        case .bool: return .bool(nodes[node].content != 0)
        case .integer: return .integer(nodes[node].content)
        case .double: return .double(double(node) ?? 0)
        case .string: return .string(string(node) ?? "")
        case .array: return .array(children(of: node).map { value($0) })
        case .object:
            let members = children(of: node)
            var values = [String: JSONValue](minimumCapacity: members.count)
            for member in members { values[key(of: member)] = value(member) }
            return .object(values)
        }
    }

    // MARK: - Arrays and objects

    /// The elements of an array, or the members of an object; of other values none.
    package func children(of node: Int) -> [Int] {
        var found: [Int] = []
        let end = Int(nodes[node].next)
        var child = node + 1
        while child < end {
            found.append(child)
            child = Int(nodes[child].next)
        }
        return found
    }

    /// The key of an object's member.
    package func key(of member: Int) -> String {
        text(Int(nodes[member].keyFirst), Int(nodes[member].keyEnd), nodes[member].keyHasEscapes)
    }

    /// An object's member with this key; `nil` if there is none or the value is not an object.
    package func member(_ name: StaticString, of node: Int) -> Int? {
        guard nodes[node].kind == .object else { return nil }
        let tag = name.withUTF8Buffer { Self.tag($0) }
        return nodes.withUnsafeBufferPointer { nodes in
            let end = Int(nodes[node].next)
            var child = node + 1
            while child < end {
                if nodes[child].keyTag == tag || nodes[child].keyHasEscapes, hasKey(nodes[child], name) { return child }
                child = Int(nodes[child].next)
            }
            return nil
        }
    }

    private func hasKey(_ member: Node, _ name: StaticString) -> Bool {
        guard !member.keyHasEscapes else { return texts[Int(member.keyFirst)] == name.description }
        let first = Int(member.keyFirst)
        guard Int(member.keyEnd) - first == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { letters in
            for index in letters.indices where letters[index] != bytes[first + index] { return false }
            return true
        }
    }

    /// The length of a key, and three of its bytes.
    static func tag(_ key: UnsafeBufferPointer<UInt8>) -> UInt32 {
        guard !key.isEmpty else { return 0 }
        let count = UInt32(truncatingIfNeeded: key.count)
        let (first, middle, last) = (UInt32(key[0]), UInt32(key[key.count / 2]), UInt32(key[key.count - 1]))
        return count << 24 | first << 16 | middle << 8 | last
    }

    private func text(_ first: Int, _ end: Int, _ hasEscapes: Bool) -> String {
        guard !hasEscapes else { return texts[first] }
        return bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[first..<end]), as: UTF8.self)
        }
    }
}
